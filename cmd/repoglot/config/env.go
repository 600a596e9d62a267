package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// envPrefix begins the names of variables that override a key.
const envPrefix = "REPOGLOT_"

// environment is the result of os.Environ; of equal names the last one wins.
type environment struct {
	values     map[string]string
	overridden map[string]bool // keys of the file, by name
}

func newEnvironment(environ []string) *environment {
	env := &environment{values: map[string]string{}, overridden: map[string]bool{}}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			env.values[name] = value
		}
	}
	return env
}

// override applies REPOGLOT_LISTEN, REPOGLOT_BASE_URL, … to the scalar keys of the
// file's top level. A variable that is set but empty overrides nothing.
func (env *environment) override(c *Config, r *report) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("yaml")
		name := EnvName(key)
		value := env.values[name]
		if key == "" || value == "" || !overridable(v.Field(i)) {
			continue
		}
		env.overridden[key] = true
		delete(r.positions, key)
		if err := setWord(v.Field(i), value); err != nil {
			r.errs = append(r.errs, &Error{File: name, Msg: oneLine(fmt.Sprintf("%s %v", sample(value), err))})
		} else if why := notAllowed(v.Field(i).String(), strings.Fields(v.Type().Field(i).Tag.Get("oneof"))); why != "" {
			r.errs = append(r.errs, &Error{File: name, Msg: why})
		}
	}
}

// EnvName returns the environment variable that overrides a scalar key of the
// file's top level.
func EnvName(key string) string { return envPrefix + strings.ToUpper(key) }

// overridable reports whether an environment variable can override a field: one
// that is written as one word, except true and false.
func overridable(v reflect.Value) bool {
	return wordParser(v) != nil || v.Kind() == reflect.String || v.Kind() == reflect.Int
}

func setWord(dst reflect.Value, text string) error {
	if parse := wordParser(dst); parse != nil {
		return parse(text)
	}
	if dst.Kind() == reflect.String {
		dst.SetString(text)
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text {
		return errors.New("must be a whole number")
	}
	dst.SetInt(int64(n))
	return nil
}

// unknown returns a warning for each variable with the prefix of an override that
// overrides no key.
func (env *environment) unknown(c *Config) []string {
	named := map[string]bool{}
	for key, i := range (&report{}).keysOf(reflect.TypeFor[Config]()).fields {
		if overridable(reflect.ValueOf(c).Elem().FieldByIndex(i)) {
			named[EnvName(key)] = true
		}
	}
	for _, cr := range c.Credentials {
		named[cr.PasswordEnv] = true
	}
	for _, p := range c.Projects {
		named[p.WebhookSecretEnv] = true
		for _, co := range p.Components {
			named[co.WebhookSecretEnv], named[co.SigningKeyEnv], named[co.ForgeTokenEnv] = true, true, true
		}
	}
	var list []string
	for name := range env.values {
		if strings.HasPrefix(name, envPrefix) && !named[name] {
			list = append(list, "the environment variable "+name+" overrides no key of the configuration and is ignored")
		}
	}
	slices.Sort(list)
	return list
}

// secrets reads the secrets of components and returns a warning for each variable
// that is not set: such a component accepts no calls at all.
func (env *environment) secrets(c *Config) []string {
	missing := map[string]bool{}
	for i := range c.Projects {
		p := &c.Projects[i]
		for j := range p.Components {
			co := &p.Components[j]
			co.SigningKey, co.ForgeToken = Secret(env.values[co.SigningKeyEnv]), Secret(env.values[co.ForgeTokenEnv])
			name := cmp.Or(co.WebhookSecretEnv, p.WebhookSecretEnv)
			if name == "" {
				continue
			}
			co.WebhookSecured, co.WebhookSecret = true, Secret(env.values[name])
			missing[name] = co.WebhookSecret == ""
		}
	}
	var list []string
	for name, is := range missing {
		if is {
			list = append(list, "webhook_secret_env names "+name+", which is not set: webhooks are refused until it is")
		}
	}
	slices.Sort(list)
	return list
}
