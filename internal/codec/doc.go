// Package codec writes and reads Examples for graphmill.tfgnn of the Python client, which starts the command graphmill tfgnn codec: requests
// on stdin and replies on stdout, until stdin ends.
//
// A message is a uint32 n, a JSON object of n bytes, and after it the arrays whose sizes in bytes are its field bytes.
// Numbers are little-endian. Requests are answered in their order; the reply to one that fails has the field error. A
// client may send a second request before it reads the reply to the first one.
//
//	op      fields of the request                  reply
//	schema  path                                   schema, as protojson
//	text    schema                                 text
//	open    schema                                 codec: its number in later requests
//	encode  codec, frames; a batch                 lengths of the records, and the records, in frames of TFRecord if frames
//	decode  codec, lenient; lengths and records    a batch
//	read    codec, lenient, files, graphs, limit   a batch of up to graphs graphs and about limit bytes with more set, then
//	                                               another one, ...; at the end a reply without more
//	random  codec, seed, number, graphs            a batch
package codec
