/* Makes the kernels one importable module; its functions are called through ctypes. */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Hot loops of Diptych.", -1, NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&definition); }
