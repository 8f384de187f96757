// Package config holds the settings that the controllers of one manager share.
//
// A [Controller] is given to a manager through its options. A controller that
// leaves a setting of its own unset takes it from there; what is unset in both
// places has the default that the field names.
package config
