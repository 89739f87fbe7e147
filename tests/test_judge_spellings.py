"""One answer in many spellings, by class: what each means, and what it must not be taken for."""

import pytest

from lab.judge.equality import settle
from lab.judge.verifier import verify

CURRENT = r"I(0) e^{-t/RC}"
MATRIX = r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"
VECTOR = r"\begin{pmatrix} 1/5 \\ -18/5 \end{pmatrix}"
HOLE = r"(-\infty,1)\cup(1,\infty)"

# class: (gold, right answers, wrong answers)
SPELLINGS = {
    "a function applied is a term of its own": [
        (CURRENT, [r"I(t)=I(0)\exp\left(-\frac{t}{RC}\right)", r"\frac{I(0)}{e^{t/RC}}"],
         ["0", "I(0)", r"I(0)e^{t/RC}", r"V(0)e^{-t/RC}", r"I(0)e^{-t/R}"]),
        ("f(-x)", ["f(0-x)"], ["-f(x)", "f(x)"]),
        ("f(g(x))", [r"f\left(g(x)\right)"], ["g(f(x))", "f(x)g(x)"]),
        ("v(0)+at", ["v(t) = at+v(0)", "v = v(0)+at"], ["at", "v=at", "v(1)+at"]),
        ("2f(x)", ["f(x)+f(x)"], ["f(2x)", "f(x)^2"]),
        (r"E[X^2]-E[X]^2", [r"E[X^2]-(E[X])^2"], ["0", r"E[X]^2-E[X^2]"]),
        ("f(x)=-f(-x)", ["f(-x)=-f(x)", "f(x)+f(-x)=0"], ["f(x)=f(-x)"]),
    ],
    "a letter before brackets may be a factor": [
        ("x(x+1)", ["x^2+x", "(x+1)x"], ["x^2+1"]),
        ("a(b+c)", ["ab+ac", "(c+b)a"], ["ab+c"]),
        ("2x(x-1)^2", ["2x^3-4x^2+2x"], ["4x^2(x-1)^2"]),
        ("x(2y+1)(y-2)", ["x(2y^2-3y-2)"], ["2xy+y-2"]),
        (r"e^x(x+1)", ["xe^x+e^x"], ["e^{x(x+1)}"]),
        (r"\sin x(1+x)", [r"(1+x)\sin x"], [r"\sin(x+x^2)"]),
    ],
    "a function may be named y": [
        ("f(x)=x+1", ["x+1", "y=x+1"], ["f(n)=x+1", "f(n)=n+2", "g(n)=n+1", "n+1"]),
        ("P(A)=1/4", ["1/4"], ["P(B)=1/4"]),
    ],
    "a label says what was asked for": [
        ("73", ["m+n = 73", "AB=73", r"\angle ABC=73^\circ", r"\text{Area}=73", "f(2)=73",
                r"\sum a_i=73", "73=m+n"],
         ["m+n=74", "2x=73", "x+1=73", "m+n=x+73", r"x\not=73", "m=73,n=1"]),
        ("116", ["p+q = 1 + 115 = 116"], ["p+q=1+114=116", "p+q=117", "p=1,q=115"]),
        (r"\frac12", [r"\cos\theta=\frac12", r"P(X\ge 1)=0.5"], [r"\cos\theta=2"]),
        ("x+y=5", ["y=5-x", "2x+2y=10"], ["5", "x=5"]),
        ("x=73", ["73=x"], ["m+n=73", "y=73"]),
        ("14", [r"\text{Answer: }14", r"\text{The final answer is: }14", "Ans: 14"],
         [r"\text{Answer: }41", r"\text{The answer is not }14", r"\text{at most }14"]),
    ],
    "words beside a number count it, or say nothing": [
        ("12", [r"12\text{ such numbers}", r"\text{There are exactly }12\text{ different ways}",
                r"\text{twelve ways}", r"12\text{th}", r"12^\text{th}", r"\$12\text{ per week}"],
         [r"12\text{ more than }3", r"\text{twelve of the ways}", r"\$12\text{ per is wrong}",
          r"\text{thirteen ways}"]),
        (r"\$12\text{ per week}", ["12", "12 dollars per week"], [r"\$12\text{ per day}"]),
        (r"2\pi", [r"2\pi\text{ radians}"], [r"2\pi\text{ is wrong}", r"2\text{ radians}"]),
    ],
    "a tuple of letters says which value is whose": [
        ("(a,b)=(1,2)", ["(1,2)", "(b,a)=(2,1)", "b=2,a=1"], ["(b,a)=(1,2)", "(x,y)=(1,2)"]),
        ("(1,2)", [r"(r,\theta)=(1,2)", "(m,b)=(1,2)"], ["(x,y)=(2,1)", "y=1,x=2"]),
        ("A=(1,2),B=(3,4)", ["B=(3,4),A=(1,2)"], ["A=(3,4),B=(1,2)"]),
    ],
    "a point has a name": [
        ("(3,4)", ["P(3,4)", r"\text{Point }P(3,4)"], ["P(4,3)", "P(3,4,5)"]),
        ("(5,3)", ["P(5,3)", "C(5,3)"], ["C(3,5)", "10"]),
        ("10", ["C(5,3)"], ["P(5,3)"]),
    ],
    "a matrix has a name, a factor and round or square brackets": [
        (MATRIX, [f"A = {MATRIX}", rf"A^{{-1}}={MATRIX}", f"-(-1){MATRIX}",
                  r"\frac12\begin{bmatrix}2&4\\6&8\end{bmatrix}",
                  r"\left(\begin{matrix}1&2\\3&4\end{matrix}\right)"],
         [MATRIX.replace("pm", "vm"), MATRIX.replace("pm", "Vm"), f"2{MATRIX}", f"{MATRIX}^T",
          rf"\left|{MATRIX}\right|", f"{MATRIX}{MATRIX}"]),
        (VECTOR, [r"\mathbf{v} = " + VECTOR, r"\frac15\begin{pmatrix}1\\-18\end{pmatrix}"],
         [r"\frac15\begin{pmatrix}1\\18\end{pmatrix}", r"\begin{pmatrix}1/5&-18/5\end{pmatrix}"]),
    ],
    "a word is no product of its letters": [
        (r"\text{even}", ["even", "EVEN"], ["neve", r"\text{neve}"]),
        ("stop", [r"\text{Stop}"], ["pots", "tops"]),
        ("abc", ["bca"], ["abd"]),
        ("x-y", ["-y+x"], ["y-x"]),
        (r"\text{ellipse}", ["an ellipse", r"\text{It is an ellipse}"],
         [r"\text{not an ellipse}", r"\text{a circle}"]),
    ],
    "a dozen is twelve, a cent a hundredth": [
        ("60", [r"5\text{ dozen}", r"5\text{ dozen eggs}"], [r"60\text{ dozen}"]),
        ("5", [r"5\text{ eggs}"], [r"5\text{ dozen}", r"5\text{ million}"]),
        (r"\$2.5\text{ billion}", ["2500000000"], ["2.5", r"\$2.5\text{ million}"]),
        (r"5.4\text{ cents}", ["5.4¢", r"5.4\,\text{¢}", r"\$0.054"], [r"\$5.4", "0.054¢"]),
    ],
    "an upright i is i": [
        ("6-5i", [r"6-5\mathrm{i}", r"6-5\text{i}", r"6-5\imath"], [r"6+5\mathrm{i}"]),
        (r"3\mathbf{i}+4\mathbf{j}", [r"4\mathbf j+3\mathbf i"], [r"3\mathbf{i}-4\mathbf{j}"]),
        ("5", [r"5\text{ m}"], [r"5\text{i}"]),
    ],
    "a ratio has a colon or the word to": [
        ("3:2", ["3{:}2", "3 to 2", r"3\text{ to }2", r"3\mathbin{:}2"],
         ["2:3", "2 to 3", "b:a=3:2", "32"]),
    ],
    "sets are joined, cut and taken away": [
        (HOLE, [r"\mathbb{R}\setminus\{1\}", r"(-\infty,1)\bigcup(1,\infty)", r"\mathbb{R}-\{1\}",
                r"\text{all real numbers except }1"],
         [r"\mathbb{R}\setminus\{2\}", r"(-\infty,1)\cap(1,\infty)", r"\mathbb{R}"]),
        (r"[0,2)\cup(2,5]", [r"[0,5]\backslash\{2\}", r"0\le x\le5, x\ne2"], ["[0,5]"]),
        ("(2,5)", [r"(-\infty,5)\cap(2,\infty)"], [r"(-\infty,5)\cup(2,\infty)"]),
        (r"A\setminus B", [r"A\backslash B"], [r"B\setminus A", r"A\cup B"]),
    ],
    "a base stands below in many ways": [
        ("52_8", ["52_{(8)}", "N = 52_8", r"52_{\text{eight}}", r"52\text{ (base 8)}"],
         ["52_{(9)}", "N=53_8", "N_8=25", "42"]),
    ],
    "a unit keeps the case of its prefix": [
        (r"75\text{ mL}", [r"75\text{ ml}", r"0.075\text{ L}", "75 mL", "75"],
         [r"75\text{ L}", r"75\text{ kL}", r"7.5\text{ cL}\text{ not}"]),
        (r"3\text{ MeV}", [r"3000\text{ keV}"], [r"3\text{ meV}"]),
    ],
    "what is measured may be said after a number": [
        ("20", [r"20\text{ cups of feed}", r"20\text{ apples each}", "20 in total", "$20 profit",
                r"\text{\$}20", r"\text{There are }20\text{ ways}"],
         ["20 loss", r"20\text{ percent of all}", r"20\text{ not total}", "20 out of",
          r"\text{There are at least }20", r"\text{There are not }20\text{ ways}"]),
        (r"6.02\times 10^{23}", [r"6.02\cdot 10^{23}\text{ molecules}"],
         [r"6.02\text{ molecules}"]),
    ],
    "brackets that look outward leave the end out": [
        (r"(1,\infty)", [r"]1,\infty[", r"\left]1;\infty\right["], [r"[1,\infty[", "]1,2["]),
        (r"[0,1)\cup(2,3]", [r"[0,1[\cup]2,3]"], [r"[0,1]\cup[2,3]", r"]0,1[\cup]2,3]"]),
    ],
    "a sign in a tuple stands for several tuples": [
        ("(5,3),(5,-3),(-5,3),(-5,-3)", [r"(\pm5,\pm3)"], [r"(\pm5,3)", r"(\pm5,\mp3)"]),
        ("(5,-3),(-5,3)", [], [r"(\pm5,\pm3)", "(5,-3,-5,3)"]),
        (r"\pm i", [r"i\text{ and }-i"], [r"i\text{ and }i", "i", "-i"]),
    ],
    "the last of several equations counts": [
        ("809", [r"\frac mn=\frac{405}{404}\implies m+n=809", r"\therefore 809",
                 "m=405,n=404⇒m+n=809"],
         [r"x=1\implies y=2,x=3\implies y=809", r"x=1\implies y=2\text{ or }x=3\implies y=809",
          r"m+n=809\implies m+n=810", r"p\implies 809", r"x>3\implies x=809", r"809\implies x=1"]),
        ("f(x)=0,f(x)=x^2", [r"f(x)=x^2\text{ or }f(x)\equiv0"], [r"f(x)\equiv0"]),
        ("5", [r"x\equiv5"], [r"x\equiv5\pmod7", r"x\equiv5(mod7)"]),
    ],
    "words around a condition or an answer are only words": [
        (r"\begin{cases}1&n\text{ even}\\0&n\text{ odd}\end{cases}",
         [r"\begin{cases}1,&\text{if }n\text{ is even},\\0,&\text{if }n\text{ is odd}.\end{cases}"],
         [r"\begin{cases}1&\text{if }n\text{ is odd}\\0&\text{if }n\text{ is even}\end{cases}",
          r"\begin{cases}1&n\text{ is not even}\\0&n\text{ is odd}\end{cases}"]),
        (r"\text{no solution}", [r"\text{There is no solution}", r"\text{There are no solutions.}"],
         [r"\text{There is a solution}"]),
    ],
    "a sign has a name": [
        (r"\infty", [r"\text{infinity}", "infinity"], [r"-\text{infinity}", "-infinity"]),
        (r"\text{cot}", [r"\cot"], [r"\tan"]),
        (r"\arccot x", [r"\operatorname{arccot} x"], [r"\operatorname{arctan} x"]),
        ("g(f(x))", [r"(g\circ f)(x)", "(g∘f)(x)"], [r"(f\circ g)(x)", r"(g\circ f)(y)"]),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", SPELLINGS)
def test_spellings_of_one_answer_are_right_and_others_wrong(kind):
    for gold, right, wrong in SPELLINGS[kind]:
        assert {answer: settle(answer, gold) for answer in right} == dict.fromkeys(right, "exact")
        assert [answer for answer in wrong if settle(answer, gold) in (None, "exact")] == []


def test_one_of_two_boxes_is_no_pair():
    gold = r"\boxed{2} and \boxed{3}"
    assert verify(r"\boxed{3}", gold).outcome == "wrong"
    assert verify(r"\boxed{2,3}", gold).outcome == "right"
    assert verify(r"\boxed{2}, \boxed{3}", "3").outcome == "wrong"


def test_functions_inside_functions_are_compared_in_a_moment():
    deep = "f(" * 18 + "x" + ")" * 18
    assert settle(deep, deep.replace("x", "0+x")) == "exact"
    assert settle(deep, deep.replace("x", "y")) == "different"
