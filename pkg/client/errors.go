package client

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// IgnoreNotFound returns nil if err says that the object was not found, and err otherwise.
func IgnoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// IgnoreAlreadyExists returns nil if err says that the object exists already, and err otherwise.
func IgnoreAlreadyExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
