// Package fake makes locks that are always won, for tests of what is leader elected.
package fake
