// Package zap makes loggers of go.uber.org/zap for pkg/log.
//
// [New] returns a logger made from [Options], which functions such as
// [UseDevMode] fill in. The usual main lets flags do so:
//
//	opts := zap.Options{Development: true}
//	opts.BindFlags(flag.CommandLine)
//	flag.Parse()
//	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&opts)))
//
// In production a line is a JSON object, levels from info up are logged, errors come with a
// stack trace, and floods of one message are thinned out. In development a
// line is for people to read, debug messages are logged, warnings come with a
// stack trace, and nothing is thinned out.
//
// logr's verbosity V(n) is zap's level -n. In production, Kubernetes objects among the values
// of a message or of a logger (WithValues) are logged as their kind, namespace and name; objects inside of other values,
// such as the items of a slice, are logged whole.
package zap
