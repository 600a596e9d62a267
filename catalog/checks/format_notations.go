package checks

// notations returns the syntax of the placeholders of each format check.
func notations() [count]syntax {
	return [count]syntax{
		SchemeFormat:         scheme(),
		VueFormat:            vue(),
		I18nextInterpolation: i18next(),
		CSharpFormat:         braceNumber(",:"),
		JavaFormat:           braceNumber(","),
		ObjectPascalFormat:   objectPascal(),
		RubyFormat:           ruby(),
		ESFormat:             between("${", closeBrace),
		AngularJSFormat:      between("{{", closeBraces),
		PythonFormat:         printf(" +#-", true),
		PythonBraceFormat:    pythonBrace(),
		PHPFormat:            printf(" +#-", false),
		CFormat:              printf(" +#'-", false),
		PerlFormat:           printf(" +#'-", false),
		PerlBraceFormat:      perlBrace(),
		JavascriptFormat:     printf(" +#'-", false),
		LuaFormat:            printf(" +#'-", false),
		JavaPrintfFormat:     javaPrintf(),
		QtFormat:             qt(false),
		QtPluralFormat:       qt(true),
		PercentPlaceholders:  percent(),
	}
}

// formatMask returns the format checks.
func formatMask() Mask {
	var m Mask
	for i, x := range notations() {
		if x.scan != nil {
			m = m.With(ID(i))
		}
	}
	return m
}
