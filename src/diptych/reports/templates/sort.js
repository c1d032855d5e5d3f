"use strict";
const table = document.getElementById("sites"), body = table.tBodies[0];
[...table.tHead.rows[0].cells].forEach((head, column) => {
  let turn = column && column < 7 ? -1 : 1;
  head.addEventListener("click", () => {
    const value = row => row.cells[column].dataset.value;
    const isNumber = column > 0 && column < 7;
    const order = (a, b) => isNumber ? (parseFloat(value(a)) || 0) - (parseFloat(value(b)) || 0) : value(a).localeCompare(value(b));
    [...body.rows].sort((a, b) => turn * order(a, b)).forEach(row => body.append(row));
    turn = -turn;
  });
});
