// Package child ties the processes that the inner loop starts to the loop's own life.
package child
