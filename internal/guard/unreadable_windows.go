package guard

import "golang.org/x/sys/windows"

// unreadable are the errors of a call that cannot read the memory it is given.
var unreadable = []error{windows.ERROR_NOACCESS, windows.ERROR_INVALID_USER_BUFFER, windows.ERROR_SWAPERROR}
