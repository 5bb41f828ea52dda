// Package isotime reads dates and times as ISO 8601 writes them:
//
//	2024-02-29
//	2024-02-29T13:45       2024-02-29 13:45:07       2024-02-29T13:45:07.25
//	2024-02-29T13:45:07Z   2024-02-29 13:45:07+02:00   2024-02-29T13:45:07.250-0530   2024-02-29 13:45:07+02
//
// A year has four digits. Between the date and the time is one T, t or space. A fraction follows a point or a comma and
// has up to nine digits. Without a zone, the time is in UTC. There are no weeks, ordinal dates, leap seconds (:60) or
// ends of days (24:00). Calendar dates are Gregorian for all years.
//
// Parse allocates nothing and accepts exactly these texts, so that a scan of a table can call it for each cell.
package isotime
