// Package log holds the logger that everything else falls back on, and carries
// loggers in contexts.
//
// All logging goes through [github.com/go-logr/logr], so what stands behind it
// is the program's choice: pkg/log/zap makes a logger of zap, and
// logr.FromSlogHandler makes one of any slog handler.
//
// [Log] may be used, and named loggers may be derived from it, before the
// program has chosen, even while packages are initialised: it delegates to
// what [SetLogger] is given, and until then logs nothing. [FromContext] and
// [IntoContext] are for code that works on one thing, such as a reconciler.
//
// # Guarantees
//
// A logger derived from Log at any time follows every SetLogger, names and
// values included. All of it may be used by any number of goroutines at once.
//
// # What is not guaranteed
//
// What is logged before SetLogger is lost. A program that logs without ever
// calling SetLogger is told so once on standard error, 30 seconds or more after its start.
package log
