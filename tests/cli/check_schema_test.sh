#!/usr/bin/env bash
# check_schema_test.sh HEED: heed check-schema.
# shellcheck source=tests/cli/common.sh
source "$(dirname "$0")/common.sh" "$1"

# checked STATUS SCHEMA INSTANCE...: prints the lines that standard input has, and ends with the status.
checked() {
  local expected=$1 status=0
  shift
  cat >lines
  "$heed" check-schema "$@" <instances >out 2>err || status=$?
  diff lines out && [[ $status == "$expected" && ! -s err ]] || { echo "$*: status $status" && cat err && exit 1; }
}

cat >cat.json <<END
{"type": "object", "required": ["name"], "colour": 1, "title": "A cat",
 "properties": {"name": {"type": "string"}, "lives": {"type": "integer", "maximum": 9, "format": "number"}}}
END
echo '{"lives": 9.0, "n\u0061me": "Felix"}' >felix.json
echo '{"name": "Tom", "lives": 10}' >tom.json
printf '{"name": "A"}\n\n{"name": 1}\r\n[\n' >instances

checked 0 cat.json <<END
cat.json: can be enforced
cat.json: ignored: colour, format "number"
END
checked 0 cat.json felix.json <<END
cat.json: can be enforced
cat.json: ignored: colour, format "number"
felix.json: valid
END
checked 1 cat.json tom.json felix.json <<END
cat.json: can be enforced
cat.json: ignored: colour, format "number"
tom.json: invalid: "/lives": this number is not allowed
felix.json: valid
END
echo true >true.json
checked 1 true.json felix.json - <<END
true.json: can be enforced
felix.json: valid
line 1: valid
line 3: valid
line 4: invalid: the text is not JSON: byte 2: parse error at line 1, column 2: syntax error while parsing value - unexpected end of input; expected '[', '{', or a literal
END

echo '{"properties": {"a/b": {"type": "array", "uniqueItems": true}}}' >unique.json
checked 1 unique.json felix.json <<END
unique.json: refused: uniqueItems at "/properties/a~1b" cannot be enforced: its items have too many values
END
echo '{"type": "string", "minLength": 3, "maxLength": 2}' >empty.json
"$heed" check-schema empty.json >out && exit 1
grep -q '^empty.json: refused: no value satisfies the schema: minLength at' out || { cat out && exit 1; }

before=1 refused 'absent.json' "$heed" check-schema true.json absent.json
misused 'schema' "$heed" check-schema absent.json
misused 'schema' "$heed" check-schema
