package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// flagValues says what the values of a flag are, by the type of the flag.
var flagValues = map[string]string{
	"int": "an integer", "int8": "an integer from -128 to 127", "int16": "an integer from -32768 to 32767", "int32": "an integer from -2147483648 to 2147483647", "int64": "an integer",
	"uint": "an integer of 0 or more", "uint8": "an integer from 0 to 255", "uint16": "an integer from 0 to 65535", "uint32": "an integer from 0 to 4294967295", "uint64": "an integer from 0 to 18446744073709551615",
	"float32": "a number", "float64": "a number", "bool": "true or false", "duration": "a time such as 90s or 1h30m",
	"intSlice": "integers with commas between", "float64Slice": "numbers with commas between",
}

// wrongValue words the error of a value that does not fit its flag: --threads: found "x", expected an integer. A flag of its own type says
// what it expected itself, and other errors keep their words.
func wrongValue(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	number := (*strconv.NumError)(nil)
	expected := flagValues[f.Value.Type()]
	switch {
	case expected != "":
		return Usagef("--%s: found %q, expected %s", f.Name, invalid.GetValue(), expected)
	case !errors.As(err, &number):
		return Usagef("--%s: %w", f.Name, errors.Unwrap(invalid))
	}
	return Usagef("--%s: found %q, expected a number", f.Name, invalid.GetValue())
}
