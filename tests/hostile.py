r"""Responses that attack a verifier. None of them is right for the gold 5 or x+1, none may hang,
crash or run.

`CODE`: what would run if it reached an `eval`. `BOMBS`: small texts with endless or huge values.
`FORMS`: broken, deep or strange text. `HUGE`: megabytes. Each is the inside of a box except in
`RESPONSES`, which are whole responses.
"""

# what the code would leave behind, as a file or a variable of the environment
MARK = "HOSTILE_TEXT_HAS_RUN"

CODE = [
    f"__import__('os').system('touch {MARK}')",
    f"__import__('os').environ.__setitem__('{MARK}','1')",
    f"exec(\"open('{MARK}','w')\")",
    f"[c for c in ().__class__.__base__.__subclasses__()]  # {MARK}",
    rf"\immediate\write18{{touch {MARK}}}",
    r"\op\text{}eratorname{exit}(0)",
    *rf"""eval('2+3') (lambda:5)() `touch_{MARK}` $(touch_{MARK}) \input{{{MARK}}} quit() os.abort()
    \operatorname{{exit}}(0) \\operatorname{{eval}}(5) \op\!eratorname{{exit}}(0) exit(0)
    \text{{__import__}}(5) \mathrm{{exit}}(0) \variable{{__builtins__}} x.__class__ x_{{__class__}}
    x__y {{5.__class__}} {{0.__init__.__globals__}} %s%s%n ${{jndi:ldap://a}} S(5) [5][0]
    <script>5</script> Symbol('x') Integer(5) parse_expr('5') True None nan inf""".split(),
]
BOMBS = [
    r"\int_0^1 x^{x^x} dx",
    r"\sum_{i=1}^{10^9} i",
    r"\lim_{x\to 0} x^{x^x}",
    r"\det\begin{pmatrix}" + r"\\".join(["u&v&w&x&y&z"] * 6) + r"\end{pmatrix}",
    *r"""9^{9^{9^9}} 2^{8589934592} 5!!!!! \binom{1000000}{500000} (1+x)^{3000} \gcd(9^{9^9},3)
    \operatorname{zeros}(99999,99999) 0.1^{10^{9}} 1e999999999 9e9e9e9 x^{x^{x^{x^{x}}}}
    \log_{1}{1} 1/0 0/0 0^{-1} \frac{1}{0} \infty-\infty""".split(),
]
FORMS = [
    *("", " ", "\t\n", "5\x00", "\x00", "\x005", "\ud800", "5\udfff", "\x1b[2J5", "５６", "٥", "Ⅴ"),
    *("⑤", "5\u202e", "\u200f5", "\u200b5", "5\u0301", "5\u20dd", "х+1", "x＋2", "𝟓", "½", "2²"),
    *r"""$ \% \text{} {} {{}} . , - + / // ^ _ ! = == \ \\ \frac \frac{1} \frac{1}{ \frac}{ (((((
    ))))) }{ \left( \right) 5) (5 \sqrt \sqrt[ \sqrt[3 | || ||| & #5 5# @ 5@ ~ 5? %d {0}""".split(),
    "-" * 200 + "7",
    "(" * 30 + "5" + ")" * 30 + "+1",
    "{" * 40 + "7" + "}" * 40,
    "(" * 240 + ")" * 240,
    "5 " * 200,
    "a" * 400,
    r"\frac{1}{" * 25 + "x" + "}" * 25,
    r"\sqrt{" * 60 + "5" + "}" * 60,
    "x^" * 30 + "2",
    "1," * 240 + "1",
    "1+" * 100 + "1",
    r"\pi" * 150,
    "_" * 100,
    "<" * 300,
]
HUGE = [
    *(mark * 1_000_000 for mark in ("5", "(", "$", "\\", "é")),
    "5" + " " * 1_000_000 + "6",
    r"\frac{" * 200_000,
    r"\boxed{" * 100_000,
    "{" * 500_000 + "}" * 500_000,
    "1," * 500_000,
]
RESPONSES = [
    *("", "5", "the answer is 5", r"\boxed{5} or \boxed{", "\\boxed\u200b{5}", "\\boxed{5\x00}"),
    *r"""\boxed \boxed{ \boxed{5 \boxed{} \boxed{5}\boxed{6} \boxed{{6} \boxed{\} \boxed{6\}}
    boxed{5} \Boxed{5} \fbox{5}""".split(),
    r"\boxed{6}" * 20_000,
    r"\boxed{5}" + "x" * 1_000_000 + r"\boxed{7}",
    r"\boxed{" * 50_000 + "6" + "}" * 50_000,
]


def responses() -> list[str]:
    """Every attack as a whole response."""
    return [
        rf"So it is \boxed{{{inside}}}." for inside in (*CODE, *BOMBS, *FORMS, *HUGE)
    ] + RESPONSES
