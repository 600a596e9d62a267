package catalog

// Each returns what of makes of each element of a list, in its order.
func Each[T, V any](list []T, of func(*T) V) []V {
	all := make([]V, len(list))
	for i := range list {
		all[i] = of(&list[i])
	}
	return all
}

// ByKey returns the elements of a list by a key: of several with the same one the last.
func ByKey[T any, K comparable](list []T, key func(*T) K) map[K]*T {
	all := make(map[K]*T, len(list))
	for i := range list {
		all[key(&list[i])] = &list[i]
	}
	return all
}

// Find returns the first element of a list that is meant, nil without one.
func Find[T any](list []T, meant func(*T) bool) *T {
	for i := range list {
		if meant(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Try calls fn for the elements of a list in its order, and returns the first error.
func Try[T any](list []T, fn func(*T) error) error {
	for i := range list {
		if err := fn(&list[i]); err != nil {
			return err
		}
	}
	return nil
}
