"""The only code that opens sockets or starts processes: the live web, and archives played back."""
