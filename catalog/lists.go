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
