"""Two requests in, what a prefix cache could reuse and what stopped it out.

`lines` finds whom to compare a request with, `align` finds the places where both differ, `classify` names the kind,
`reuse` knows what each provider reads back, `pair` puts it together.
"""
