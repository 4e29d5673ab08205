"""Random template programs: most of the language, with values that meet its corner cases."""

import random

CONTEXT = {
    "s": "Hello, World", "t": "  äß ǆ\tx\n", "e": "", "q": "it's \"q\" <b>&\\", "n": None, "i": 7,
    "j": -3, "z": 0, "f": 2.5, "g": -0.1, "h": 1e20, "b": True, "c": False,
    "l": [3, 1, 2], "m": ["b", "A", "c", "a"], "k": [], "o": [[1, 2], [3, 4]], "v": [1, "1", 1.0, None],
    "d": {"a": 1, "b": "two", "c": [1, {"x": None}], "items": 5}, "u": {},
    "r": [{"role": "user", "content": "Hi <|end|>", "n": 2}, {"role": "assistant", "content": " ok ", "n": 1},
          {"role": "User", "content": None, "n": 2}],
}
NAMES = [*CONTEXT, "x", "y", "ns", "loop", "w"]
STRINGS = ["", "a", "l", " ", ", ", "Hello", "{}", "{0}{1}", "a,b,,c", "x={a}", "ab\\ncd",
           "12", " -4 ", "3.7", "1e3", "é", "a b  c", "0x1f", "\\u00df", "A.b-c d"]
ATTRIBUTES = ["a", "b", "c", "items", "role", "content", "n", "upper", "index", "first", "last", "append",
              "missing", "keys", "__class__", "length", "x"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or"]
FILTERS = """abs attr('a') capitalize count d('D') default('E',true) dictsort
dictsort(by='value') dictsort(reverse=true) e escape first float float(1.5) int int(5) int(base=16) items join join(', ') join('-','n')
last length list lower map('upper') map('string') map('length') map(attribute='n') map(attribute='role',default='?')
max min reject('none') reject rejectattr('content','none') rejectattr('n','equalto',2) replace('l','L')
replace('a','bb',1) reverse round round(1) round(2,'floor') round(-1) round(method='ceil') safe select select('string')
select('gt',1) selectattr('n') selectattr('role','equalto','user') selectattr('n','in',[1]) sort
sort(reverse=true) sort(attribute='n') sort(attribute='role') sort(case_sensitive=true) sort(attribute='n,role') string sum
sum(attribute='n') sum(start=2) title tojson tojson(indent=2) tojson(sort_keys=true) tojson(ensure_ascii=true)
tojson(separators=(',',':')) trim trim('H') unique unique(attribute='n')
upper indent indent(2) indent(1,true) indent('>',true,true)
min(attribute='n') max(case_sensitive=true) nofilter""".split()
TESTS = """defined undefined none boolean true false integer float number string mapping sequence iterable callable odd
even lower upper escaped in([1,2,'a']) divisibleby(3) divisibleby_2 sameas(none) eq(1) equalto('a') ne(2) lt(3) gt(1) le(2)
ge(2) filter test notest""".replace("divisibleby_2", "divisibleby(2)").split()
METHODS = """upper() lower() strip() strip('Hd') lstrip() rstrip() split() split(',') split(',',1) split('l') rsplit(None,1)
rsplit('l',1) title() capitalize() replace('l','_') replace('','.') replace('o','0',1) startswith('He')
endswith('d') startswith(('a','H')) find('l') rfind('l') count('l') count('') index('l') join(['a','b']) join(m) format(1,'x')
format(i,a=2) partition(',') rpartition('l') splitlines() splitlines(true)
isdigit() isalpha() isspace() isupper() islower() isalnum() removeprefix('He')
removesuffix('d') items() keys() values() get('a') get('zz') get('zz',3) copy() index(1) count(1) append(1) pop() update(a=1)
find('l',3) find('o',-3) count('l',2,9) startswith('l',2)""".split()


# Filters and methods by what they take and give: (text, number, list, dict or any).
TEXT_TO_TEXT = """|upper |lower |title |capitalize |trim |trim('H') |replace('l','L') |replace('a','bb',1) |e |safe |string
|indent |indent(1,true) |indent('>',true,true) |default('x') |tojson |reverse .upper() .lower() .strip() .strip('Hd')
.lstrip() .rstrip() .title() .capitalize() .replace('l','_') .replace('','.') .removeprefix('He')
.removesuffix('d') [1:] [:-1] [::-1] [::2] [2:5] [-3:] [0:1] *2 ~'<|x|>' +'z'""".split()
TEXT_TO_LIST = """|list .split() .split(',') .split(',',1) .split('l') .rsplit(None,1) .rsplit('l',1) .splitlines()
.splitlines(true) .partition(',') .rpartition('l') |map('upper')|list |select|list |unique|list |sort""".split()
TEXT_TO_NUMBER = """|length |int |float |int(5) |int(base=16) .find('l') .rfind('l') .count('l') .count('')
.find('l',3) .find('o',-3) .count('l',2,9)""".split()
TEXT_TO_BOOL = """.startswith('He') .endswith('d') .startswith(('a','H')) .isdigit() .isalpha() .isspace() .isupper() .islower()
.isalnum() .startswith('l',2)""".split()
NUMBER_TO_NUMBER = "|abs |int |float |round |round(1) |round(-1) |round(2,'floor') |round(method='ceil') *2 +1 //2 %3 -1 /4".split()
NUMBER_TO_TEXT = "|string |tojson ~'x' |upper |trim".split()
LIST_TO_LIST = """|list |reverse|list |unique|list |map('string')|list |select|list |reject('none')|list |select('string')|list
[1:] [:2] [::-1] [::2] *2 +[1] |default([]) |map('tojson')|list
|select('defined')|list""".split()
LIST_TO_ANY = "|first |last [0] [-1] [5] |max |min |sum |tojson |string".split()
LIST_TO_TEXT = "|join |join(', ') |string |tojson |tojson(indent=2) |tojson(separators=(',',':'))".split()
LIST_TO_NUMBER = "|length |count .count(1)".split()
RECORDS_TO_LIST = """|map(attribute='n')|list |map(attribute='role',default='?')|list |selectattr('n')|list
|selectattr('role','equalto','user')|list |selectattr('n','in',[1])|list |rejectattr('content','none')|list
|rejectattr('n','equalto',2)|list |sort(attribute='n') |sort(attribute='role') |sort(attribute='n,role')
|unique(attribute='n')|list |selectattr('content','defined')|map(attribute='role')|list""".split()
DICT_TO_LIST = """|list .items()|list .keys()|list .values()|list |dictsort |dictsort(reverse=true) |items|list""".split()
DICT_TO_ANY = ".a .b .c ['a'] .get('a') .get('zz',3) .missing .items() .keys() .values() |length".split()
DICT_TO_TEXT = "|tojson |tojson(sort_keys=true) |tojson(indent=2) |string |tojson(ensure_ascii=true)".split()
LEAVES = {"text": ["s", "t", "e", "q", "r[0].content", "r[1].role"], "number": ["i", "j", "z", "f", "g", "b"],
          "list": ["l", "m", "k", "v", "o", "range(4)|list", "(1, 'x')", "range(1,9,3)"], "dict": ["d", "u", "r[0]"],
          "bool": ["b", "c", "n"], "records": ["r", "r[1:]"]}
STEPS = {  # the type that is wanted: (the type before, the table)
    "text": [("text", TEXT_TO_TEXT), ("text", TEXT_TO_TEXT), ("number", NUMBER_TO_TEXT), ("list", LIST_TO_TEXT),
             ("dict", DICT_TO_TEXT), ("records", LIST_TO_TEXT)],
    "number": [("text", TEXT_TO_NUMBER), ("number", NUMBER_TO_NUMBER), ("list", LIST_TO_NUMBER)],
    "list": [("list", LIST_TO_LIST), ("text", TEXT_TO_LIST), ("dict", DICT_TO_LIST), ("records", RECORDS_TO_LIST)],
    "bool": [("text", TEXT_TO_BOOL)],
    "any": [("list", LIST_TO_ANY), ("dict", DICT_TO_ANY)],
}


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = list(NAMES)

    def pick(self, values):
        return self.random.choice(values)

    def chance(self, probability):
        return self.random.random() < probability

    def literal(self):
        kind = self.random.randrange(10)
        if kind < 3:
            return self.pick(["0", "1", "2", "3", "-1", "10", "1_000", "0x1F", "7"])
        if kind < 4:
            return self.pick(["1.0", "0.5", "2.5", "1e3", "-2.75", "1e-7", "123456789.125", "1e16", "3.14159"])
        if kind < 8:
            quote = self.pick("'\"")
            return quote + self.pick(STRINGS) + quote
        return self.pick(["true", "false", "none", "True", "None"])

    def atom(self, depth):
        kind = self.random.randrange(12)
        if kind < 6 or depth <= 0:
            return self.pick(self.names) if self.chance(0.7) else self.literal()
        if kind < 8:
            return self.literal()
        if kind == 8:
            return "[" + ", ".join(self.expr(depth - 1) for _ in range(self.random.randrange(4))) + "]"
        if kind == 9:
            parts = [self.expr(depth - 1) for _ in range(self.random.randrange(1, 4))]
            return "(" + ", ".join(parts) + ("," if len(parts) == 1 and self.chance(0.3) else "") + ")"
        if kind == 10:
            return "{" + ", ".join(f"{self.literal()}: {self.expr(depth - 1)}"
                                   for _ in range(self.random.randrange(3))) + "}"
        return self.pick(["range(4)", "range(1, 9, 3)", "range(5, 0, -2)", "dict(a=1, b='x')", "namespace(a=1)",
                          "dict([('k', 2)])", "range(i)", "dict(d, z=3)"])

    def postfix(self, depth):
        text = self.atom(depth)
        while self.chance(0.35):
            kind = self.random.randrange(10)
            if kind < 2:
                text += "." + self.pick(ATTRIBUTES)
            elif kind < 5:
                text += "." + self.pick(METHODS)
            elif kind < 7:
                text += "[" + (self.pick(["0", "-1", "1", "'a'", "'role'", "99"]) if self.chance(0.8)
                               else self.expr(depth - 1)) + "]"
            elif kind < 8 and text in self.names:  # jinja2 computes what is constant in another way
                bounds = [self.pick(["", "0", "1", "-1", "2", "-3", "9"]) for _ in range(3)]
                step = ":" + self.pick(["", "1", "2", "-1", "-2"]) if self.chance(0.4) else ""
                text += "[" + bounds[0] + ":" + bounds[1] + step + "]"
            else:
                text += " | " + self.pick(FILTERS)
        return text

    def expr(self, depth=3):
        """An expression that Python most likely accepts."""
        if self.chance(0.03):
            return self.wild(depth)
        if self.chance(0.1):
            return self.pick(["x", "y", "w"])
        return self.typed(self.pick(["text", "text", "number", "list", "dict", "bool", "any", "records"]), depth)

    def typed(self, kind, depth):
        if depth <= 0 or kind not in STEPS and self.chance(0.8):
            return self.leaf(kind)
        choice = self.random.randrange(10)
        if choice < 5 and kind in STEPS:
            before, table = self.pick(STEPS[kind])
            step = self.pick(table)
            inner = self.typed(before, depth - 1)
            return (inner if inner.isidentifier() and step[0] in ".[|" else f"({inner})") + step
        if choice == 5:
            other = f" else {self.typed(kind, depth - 1)}"
            return f"({self.typed(kind, depth - 1)} if {self.condition(depth - 1)}{other})"
        if choice == 6:
            return self.combined(kind, depth)
        if choice == 7 and kind in ("list", "any"):
            return "[" + ", ".join(self.expr(depth - 1) for _ in range(self.random.randrange(4))) + "]"
        if choice == 7 and kind == "dict":
            return "{" + ", ".join(f"{self.literal()}: {self.expr(depth - 1)}"
                                   for _ in range(self.random.randrange(4))) + "}"
        if kind == "bool":
            return f"({self.condition(depth - 1)})"
        return self.leaf(kind)

    def leaf(self, kind):
        if kind == "number" and self.chance(0.4):
            return self.pick(["0", "1", "2", "10", "1_000", "0x1F", "2.5", "1e3", "1e-7", "123456789.125", "1e16", "0.1"])
        if kind == "text" and self.chance(0.4):
            quote = self.pick("'\"")
            return quote + self.pick(STRINGS) + quote
        if kind not in LEAVES:
            return self.pick([name for names in LEAVES.values() for name in names])
        return self.pick(LEAVES[kind])

    def combined(self, kind, depth):
        left, right = self.typed(kind, depth - 1), self.typed(kind, depth - 1)
        if kind == "text":
            return self.pick([f"({left} + {right})", f"({left} ~ {self.typed('number', depth - 1)} ~ {right})",
                              f"({left}).join({self.typed('text', depth - 1)}.split())",
                              f"'{{}}:{{}}'.format({left}, {right})", f"'{{a}}{{0}}'.format({left}, a={right})",
                              f"{left}.replace({right}, 'R')" if left.isidentifier() else f"({left}) | replace({right}, 'R')"])
        if kind == "number":
            return f"({left} {self.pick(['+', '-', '*', '/', '//', '%'])} {right})"
        if kind == "list":
            return f"({left} + {right})"
        return f"({left} {self.pick(['or', 'and'])} {right})"

    def condition(self, depth):
        kind = self.pick(["text", "number", "list", "dict", "any"])
        choice = self.random.randrange(9)
        if choice < 2:
            test = self.pick(["defined", "undefined", "none", "boolean", "true", "false", "integer", "float", "number", "string",
                              "mapping", "sequence", "iterable", "callable", "lower", "upper", "escaped", "in([1, 2, 'a'])",
                              "sameas(none)", "eq(1)", "equalto('a')", "ne(2)"])
            return f"{self.leaf(kind)} is {self.pick(['', 'not '])}{test}"
        if choice == 2:
            return f"{self.typed('number', depth)} is {self.pick(['odd', 'even', 'divisibleby(3)', 'lt(3)', 'ge(2)'])}"
        if choice == 3:
            return f"{self.typed('text', depth)} {self.pick(['in', 'not in'])} {self.typed('text', depth)}"
        if choice == 4:
            return f"{self.typed('any', depth)} {self.pick(['in', 'not in'])} {self.typed('list', depth)}"
        if choice == 5:
            return f"not {self.typed(kind, depth)}"
        if choice == 6:
            order = self.pick(["text", "number"])
            return f"{self.typed(order, depth)} {self.pick(['<', '>', '<=', '>='])} {self.typed(order, depth)}"
        if choice == 7:
            return f"({self.typed(kind, depth)} {self.pick(['and', 'or'])} {self.typed(kind, depth)})"
        return f"{self.typed(kind, depth)} {self.pick(['==', '!='])} {self.typed(kind, depth)}"

    def wild(self, depth=3):
        """Any expression, often one that fails."""
        if depth <= 0:
            return self.atom(0)
        kind = self.random.randrange(20)
        if kind < 8:
            return self.postfix(depth)
        if kind < 12:
            return f"{self.expr(depth - 1)} {self.pick(BINARY)} {self.expr(depth - 1)}"
        if kind == 12:
            return f"({self.expr(depth - 1)})"
        if kind == 13:
            return f"{self.pick(['-', 'not ', '+'])}{self.postfix(depth - 1)}"
        if kind == 14:
            return (f"{self.expr(depth - 1)} if {self.expr(depth - 1)}" +
                    (f" else {self.expr(depth - 1)}" if self.chance(0.7) else ""))
        if kind == 15:
            return f"{self.postfix(depth - 1)} is {self.pick(['', 'not '])}{self.pick(TESTS)}"
        if kind == 16:
            return f"{self.postfix(depth - 1)} < {self.expr(depth - 1)} <= {self.expr(depth - 1)}"
        if kind == 17:
            return f"{self.postfix(depth - 1)} ** {self.pick(['2', '0', '-1', '3', '0.5'])}"
        if kind == 18:
            return f"({self.expr(depth - 1)}) | {self.pick(FILTERS)}"
        return f"{self.pick(self.names)}({self.expr(depth - 1)})" if self.chance(0.3) else self.postfix(depth)

    def tag(self, inside):
        left, right = self.pick(["", "", "", "-", "+"]), self.pick(["", "", "", "-", "+"])
        return "{%" + left + " " + inside + " " + right + "%}"

    def text(self):
        if self.chance(0.003):
            return "{"
        return self.pick(["", " ", "\n", "  \n", "a\n", "\n  ", "b", "{ ", " {{ '{{' }} ", "\r\n", "é\n\n", "\t", "}}", "%}"])

    def body(self, depth, loop=False):
        return "".join(self.text() + self.statement(depth, loop) for _ in range(self.random.randrange(1, 4))) + self.text()

    def statement(self, depth, loop=False):
        kind = self.random.randrange(26)
        if kind < 9 or depth <= 0:
            left, right = self.pick(["", "", "-"]), self.pick(["", "", "-"])
            return "{{" + left + " " + self.expr() + " " + right + "}}"
        if kind < 12:
            if self.chance(0.1):
                return self.tag("set " + self.target() + " = " + self.expr())
            if self.chance(0.1):
                return self.tag("set x, y = " + self.expr(2) + ", " + self.expr(2))
            return self.tag("set " + self.pick(["x", "y", "w"]) + " = " + self.expr())
        if kind < 15:
            middle = self.tag("elif " + self.condition(2)) + self.body(depth - 1, loop) if self.chance(0.3) else ""
            last = self.tag("else") + self.body(depth - 1, loop) if self.chance(0.4) else ""
            return self.tag("if " + self.condition(2)) + self.body(depth - 1, loop) + middle + last + self.tag("endif")
        if kind < 19:
            target = self.pick(["x", "x", "y", "w"])
            items = self.pick(["l", "m", "r", "o", "d", "d.items()", "range(4)", "k", "'abc'", self.typed("list", 2), self.typed("list", 2)])
            if self.chance(0.2):
                target, items = "x, y", self.pick(["o", "d.items()", "d|dictsort", "[(1, 2), 'ab']"])
            condition = " if " + self.condition(2) if self.chance(0.3) else ""
            last = self.tag("else") + self.body(depth - 1, loop) if self.chance(0.25) else ""
            extra = self.pick(["", "", "{{ loop.index }}", "{{ loop.last }}", "{{ loop.nextitem }}", "{{ loop.length }}",
                               "{{ loop.previtem }}", "{{ loop.revindex0 }}{{ loop.first }}"])
            return (self.tag(f"for {target} in {items}{condition}") + extra + self.body(depth - 1, True) + last +
                    self.tag("endfor"))
        if kind == 19:
            return self.tag("set " + self.pick(["x", "y", "w"]) + self.pick(["", " | upper", " | trim | length"])) + \
                self.body(depth - 1, loop) + self.tag("endset")
        if kind == 20:
            name = self.pick(["mac", "mac2"])
            signature = self.pick(["", "x", "x, y=1", "x=s, y=x", "a, b=l"])
            special = self.pick(["", "", "{{ varargs }}{{ kwargs }}", "{{ kwargs }}", "{{ varargs }}"])
            if self.chance(0.3):
                return self.tag(f"macro {name}({signature})") + "{{ caller(x) }}|{{ caller(1) }}" + self.tag("endmacro") + \
                    self.tag("call(a) " + name + "()") + "{{ a }}" + self.body(depth - 1) + self.tag("endcall")
            return self.tag(f"macro {name}({signature})") + special + self.body(depth - 1) + self.tag("endmacro") + \
                "{{ " + name + "(" + self.pick(["", "1", "1, 2", "x=3", "s, y=2", "1, 2, 3", "2"]) + ") }}"
        if kind == 21:
            return self.tag("filter " + self.pick(["upper", "trim", "replace('a', 'b')", "indent(2)", "title"])) + \
                self.body(depth - 1, loop) + self.tag("endfilter")
        if kind == 22:
            return self.tag("with x = " + self.expr(2) + self.pick(["", ", y = x"])) + self.body(depth - 1, loop) + \
                self.tag("endwith")
        if kind == 23:
            return self.pick([self.tag("raw") + " {{ x }} {% if %}" + self.tag("endraw"), "{# c #}", "{#- c -#}", "{# a\n#}\n",
                              self.tag("generation") + self.body(depth - 1) + self.tag("endgeneration")])
        if kind == 24 and loop:
            return self.tag("if " + self.condition(2)) + self.tag(self.pick(["break", "continue"])) + self.tag("endif")
        return self.tag("set ns = namespace(a=" + self.expr(2) + ")") + \
            self.tag("set ns.a = ns.a ~ " + self.expr(2)) + "{{ ns.a }}"

    def target(self):
        return self.pick(["x", "y", "x", "w", "x, y", "ns.a", "s", "loop" if self.chance(0.05) else "l"])

    def template(self):
        return self.body(3)
