// Package logview makes a manager's log readable for a person who watches it.
//
// Its nouns:
//
//   - An entry is one structured log line: time, level, logger, message and fields. Two encodings of it are understood, zap's JSON and
//     zap's console encoding, which the field's scaffolds write in production and in development.
//   - A Writer takes what a manager prints and writes each entry as one short line.
//
// Guarantees:
//
//   - A line that is not an entry passes as it is: panics, stack traces, prints.
//   - No field is lost but those that repeat others: of the object that is reconciled, "namespace/name" is left of five fields, and of
//     reconcileID its beginning.
//
// Not guaranteed: a format that programs can parse. Programs read the manager's own.
package logview
