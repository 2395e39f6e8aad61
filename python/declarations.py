"""The public headers as ctypes: makes the package's _declarations.py whenever it is built.

    python3 python/declarations.py FILE      writes the declarations
    python3 python/declarations.py --sizes   prints a C program that tells sizes and offsets

Needs the C preprocessor (cc) and nothing else.
"""

import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "specroute"

PRIMITIVES = {
    "void": None,
    "int": "c_int",
    "unsigned": "c_uint",
    "char": "c_char",
    "double": "c_double",
    "float": "c_float",
    "size_t": "c_size_t",
    "int8_t": "c_int8",
    "int16_t": "c_int16",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "uint8_t": "c_uint8",
    "uint16_t": "c_uint16",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
}


def abi():
    """The number that sr_abi() gives for these headers; cmake/Abi.cmake makes the same."""
    text = ""
    for header in sorted(HEADERS.glob("*.h")):
        one = re.sub(r"/[*]([^*]|[*]+[^*/])*[*]+/", "", header.read_text())
        text += re.sub(r"[ \t\r\n]+", "", one)
    return int(hashlib.sha256(text.encode()).hexdigest()[:7], 16)


def preprocessed():
    """The declarations of our own headers, macros expanded, everything else left out."""
    command = ["cc", "-E", "-I", str(ROOT / "include"), "-D__attribute__(x)=", "-xc", "-"]
    text = subprocess.run(command, input="#include <specroute/specroute.h>\n", text=True,
                          check=True, stdout=subprocess.PIPE).stdout
    ours, lines = False, []
    for line in text.splitlines():
        if line.startswith("#"):
            ours = "/specroute/" in line.split('"')[1] if '"' in line else ours
        elif ours:
            lines.append(line)
    return "\n".join(lines)


def statements(text):
    """Top-level statements: what ends in ; outside of braces."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            yield " ".join(text[start:at].split())
            start = at + 1


def split_commas(text):
    depth, part, parts = 0, "", []
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return parts + [part.strip()] if part.strip() else parts


class Reader:
    def __init__(self):
        self.enums, self.structs, self.opaque, self.callbacks, self.functions = {}, {}, [], {}, {}

    def read(self, text):
        for statement in statements(text):
            if match := re.fullmatch(r"(?:typedef )?enum (\w* ?)\{(.*)\}(?: \w+)?", statement):
                self.read_enum(match[1].strip() or f"enum {len(self.enums)}", match[2])
            elif match := re.fullmatch(r"typedef struct (\w+) \{(.*)\} \w+", statement):
                self.structs[match[1]] = self.read_fields(match[2])
            elif match := re.fullmatch(r"typedef struct (\w+) \w+", statement):
                self.opaque.append(match[1])
            elif match := re.fullmatch(r"typedef (.+?)\(\*(\w+)\)\((.*)\)", statement):
                self.callbacks[match[2]] = (match[1].strip(), split_commas(match[3]))
            elif match := re.fullmatch(r"(?:extern )?([\w *]+?)(\w+)\((.*)\)", statement):
                self.functions[match[2]] = (match[1].strip(), split_commas(match[3]))
            elif not re.fullmatch(r"struct \w+", statement) and statement.strip():
                raise SystemExit(f"declarations.py does not understand: {statement}")
        self.opaque = [name for name in self.opaque if name not in self.structs]

    def read_enum(self, name, body):
        value, members = 0, {}
        for entry in split_commas(body):
            key, _, given = (part.strip() for part in entry.partition("="))
            value = eval(given, {}, dict(members)) if given else value  # our own constants
            members[key] = value
            value += 1
        self.enums[name] = members

    @staticmethod
    def read_fields(body):
        fields = []
        for line in filter(None, (part.strip() for part in body.split(";"))):
            if match := re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", line):
                fields.append((match[2], "callback", (match[1], split_commas(match[3]))))
                continue
            first, *rest = split_commas(line)
            match = re.fullmatch(r"(.*?)((?:\* ?(?:const )?)*)(\w+)((?:\[\w+\])*)", first)
            base = match[1].strip()
            fields.append((match[3], base + " " + match[2], match[4]))
            for more in rest:
                match = re.fullmatch(r"((?:\* ?(?:const )?)*)(\w+)((?:\[\w+\])*)", more)
                fields.append((match[2], base + " " + match[1], match[3]))
        return fields

    # ---- C types as ctypes --------------------------------------------------------------------

    def type_of(self, text, result=False):
        text = re.sub(r"\b(extern|restrict)\b", "", text)
        constant = bool(re.match(r"\s*const\b", text))
        stars = text.count("*")
        base = re.sub(r"\b(const|struct|enum)\b|\*", " ", text).split()[0]
        if base in self.callbacks and stars == 0:
            return base
        if base in self.enums:
            inner = "c_int"
        elif base in self.structs:
            inner = base
        elif base in PRIMITIVES:
            inner = PRIMITIVES[base]
        else:
            inner = None  # a handle
        if stars == 0:
            return inner
        if base == "char" and constant:
            return "c_char_p" if stars == 1 else "POINTER(c_char_p)"
        if base in self.structs and (constant or stars == 1):
            return "POINTER(" * stars + inner + ")" * stars
        return "c_void_p" if stars == 1 else "POINTER(c_void_p)"

    def argument(self, text):
        text = text.strip()
        if match := re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*)", text):
            known = match[2] in PRIMITIVES or match[2] in self.structs or match[2] in self.enums
            if match[1].strip() and not known:
                text = match[1] + ("*" if match[3] else "")
        return self.type_of(text)

    def arguments(self, texts):
        return [self.argument(text) for text in texts if text != "void"]

    def write(self):
        out = ['"""The public headers as ctypes. Made by python/declarations.py: do not edit."""', "",
               "# fmt: off", "from ctypes import *  # noqa: F403", "", f"ABI = {abi():#x}", ""]
        for members in self.enums.values():
            out += [f"{key} = {value}" for key, value in members.items()]
        out.append("")
        for name in self.structs:
            out.append(f"class {name}(Structure): pass")
        out.append("")
        for name, (result, arguments) in self.callbacks.items():
            kinds = ", ".join(str(kind) for kind in [self.type_of(result)] + self.arguments(arguments))
            out.append(f"{name} = CFUNCTYPE({kinds})")
        out.append("")
        for name, fields in self.structs.items():
            out.append(f"{name}._fields_ = [")
            for field, kind, more in fields:
                if kind == "callback":
                    shown = "c_void_p"
                else:
                    shown = self.type_of(kind)
                    for size in re.findall(r"\[(\w+)\]", more):
                        shown = f"{shown} * {size}"
                out.append(f'    ("{field}", {shown}),')
            out.append("]")
        out += ["", "# name: (result, arguments)", "FUNCTIONS = {"]
        for name, (result, arguments) in self.functions.items():
            kinds = ", ".join(str(kind) for kind in self.arguments(arguments))
            out.append(f'    "{name}": ({self.type_of(result)}, [{kinds}]),')
        out += ["}", ""]
        return "\n".join(out)

    def sizes(self):
        out = ["#include <specroute/specroute.h>", "#include <stdio.h>", "int main(void) {"]
        for name, fields in self.structs.items():
            out.append(f'  printf("{name} %zu\\n", sizeof({name}));')
            for field, _, _ in fields:
                out.append(f'  printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
        for members in self.enums.values():
            out += [f'  printf("{key} %d\\n", (int){key});' for key in members]
        return "\n".join(out + ["}", ""])


def main():
    reader = Reader()
    reader.read(preprocessed())
    if "--sizes" in sys.argv:
        print(reader.sizes())
        return
    pathlib.Path(sys.argv[1]).write_text(reader.write())


if __name__ == "__main__":
    main()
