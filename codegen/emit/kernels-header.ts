import { basename } from 'node:path'
import { abiHash } from '../kernel-abi/hash.js'
import {
  type FrameField,
  HEADER_BYTES,
  type Kernel,
  type KernelAbi,
  type KernelEnum,
  type KernelNumber,
  type ScalarKind,
} from '../kernel-abi/model.js'
import type { Selector } from '../options.js'
import { banner, KERNEL_INPUTS } from './file.js'
import { acceptsFunction, holdsDtype, holdsEnum } from './selection-header.js'

const C_TYPE: Record<ScalarKind, string> = { ptr: 'uint64_t', i32: 'int32_t', i64: 'int64_t', f32: 'float', f64: 'double' }

/**
 * The C++ side of the ABI, by path below kernels/generated: `frames/<file>.h` holds the enumerations and frames that one YAML file
 * declares, so that a new kernel compiles one family anew; `kernel_list.h` numbers all kernels; `selection.h` says which dtypes the
 * kernels are built for. The frames of kernels that are left out (`absent`) stay, since their sources are not always left out whole.
 */
export function emitKernelHeaders(abi: KernelAbi, absent: readonly Kernel[], selector: Selector): Map<string, string> {
  const headers = new Map([
    ['kernel_list.h', kernelList(abi, selector)],
    ['selection.h', `${banner('selection-header.ts', KERNEL_INPUTS)}${holdsDtype(selector)}`],
  ])
  const all = { ...abi, kernels: [...abi.kernels, ...absent] }
  for (const [family, part] of families(all)) {
    const includes = ['ptlite_abi.h', 'selection.h', ...otherFamilies(all, part, family).map((name) => `frames/${name}.h`)]
    const held = part.enums.map((e) => holdsEnum(e, selector)).join('')
    const kernels = part.kernels.map((k) => acceptsFunction(k, !absent.includes(k), selector)).join('')
    const text = frames(part, includes, `${held}\n`)
    headers.set(`frames/${family}.h`, `${banner('kernels-header.ts', `codegen/kernels/${family}.yaml`)}${text}${kernels}`)
  }
  return headers
}

function kernelList(abi: KernelAbi, selector: Selector): string {
  const rows = abi.kernels.map((k) => ` \\\n  X(${k.name})`).join('')
  return `${banner('kernels-header.ts', KERNEL_INPUTS)}#pragma once

${fingerprint(abi, selector)}// A kernel's id is its position in this list.
#define PTLITE_FOR_EACH_KERNEL(X)${rows}
`
}

const familyOf = (declaration: Kernel | KernelEnum | KernelNumber): string => basename(declaration.source.file, '.yaml')

const isLimit = ({ kind }: KernelNumber): boolean => kind === 'limit'

/** kernels/include/ptlite_status.h: what a kernel returns. */
export function emitStatusHeader({ numbers }: KernelAbi): string {
  const rows = numbers.filter((n) => !isLimit(n)).map((n) => `  PTLITE_${n.name} = ${n.value},  // ${n.doc}\n`)
  return `${banner('kernels-header.ts', 'codegen/kernels/status.yaml')}#pragma once\n\n// What a kernel returns.\nenum {\n${rows.join('')}};\n`
}

function families(abi: KernelAbi): Map<string, KernelAbi> {
  const names = new Set([...abi.numbers.filter(isLimit), ...abi.enums, ...abi.kernels].map(familyOf))
  const part = (name: string): KernelAbi => ({
    numbers: abi.numbers.filter((n) => familyOf(n) === name),
    enums: abi.enums.filter((e) => familyOf(e) === name),
    kernels: abi.kernels.filter((k) => familyOf(k) === name),
  })
  return new Map([...names].sort().map((name) => [name, part(name)]))
}

/** Families whose enumerations the frames of `part` use. */
function otherFamilies(abi: KernelAbi, part: KernelAbi, family: string): string[] {
  const used = new Set(part.kernels.flatMap((k) => k.fields.map((f) => f.enumName)))
  return [...new Set(abi.enums.filter((e) => used.has(e.name)).map(familyOf))].filter((name) => name !== family)
}

/** The header of a user's own kernels, and the functions that make a shared library of them. */
export function emitCustomKernelsHeader(abi: KernelAbi, first: string): string {
  const declarations = abi.kernels.map((k) => `int32_t ${k.name}(${k.name}_frame* frame);\n`).join('')
  const cases = abi.kernels.map((k, id) => `      case ${id}: return ${k.name}(static_cast<${k.name}_frame*>(frame)); \\\n`).join('')
  return `${first}${frames(abi, ['ptlite_abi.h'])}${fingerprint(abi)}
// Define each kernel; it returns PTLITE_OK or another status of ptlite_abi.h.
${declarations}
// To be written once, at the end of a source file: what ptlite looks for in the library.
#define PTLITE_KERNEL_LIBRARY \\
  extern "C" PTLITE_EXPORT uint32_t ptlite_abi_hash(void) { return PTLITE_KERNEL_ABI_HASH; } \\
  extern "C" PTLITE_EXPORT int32_t ptlite_launch(void* frame, void* host) { \\
    auto* header = static_cast<ptlite_frame_header*>(frame); \\
    header->host = reinterpret_cast<uint64_t>(host); \\
    switch (header->kernel) { \\
${cases}      default: return PTLITE_NO_KERNEL; \\
    } \\
  }
`
}

function fingerprint(abi: KernelAbi, selector?: Selector): string {
  return `// Fingerprint of the declarations that this header was made from.\n#define PTLITE_KERNEL_ABI_HASH ${abiHash(abi, selector)}u\n\n`
}

function frames(abi: KernelAbi, includes: readonly string[], held = ''): string {
  const limits = abi.numbers
    .filter(isLimit)
    .map((n) => `// ${n.doc}\nconstexpr int32_t PTLITE_${n.name} = ${n.value};\n`)
    .join('')
  const enums = abi.enums.map((e) => `enum ${e.name} : int32_t {\n${e.values.map((v) => `  ${e.name}_${v},\n`).join('')}};\n\n`).join('')
  return `#pragma once

#include <stddef.h>
#include <stdint.h>

${includes.map((file) => `#include "${file}"\n`).join('')}
static_assert(sizeof(ptlite_frame_header) == ${HEADER_BYTES}, "frame header");

${limits}${enums}${held}${abi.kernels.map((k) => `${frame(k)}\n`).join('')}`
}

function frame(kernel: Kernel): string {
  const members = [...kernel.fields, ...kernel.results]
  const declarations = members.map((m) => `  ${C_TYPE[m.kind]} ${m.name}${m.length === null ? '' : `[${m.length}]`};\n`).join('')
  const checks = members.map((m) => offsetCheck(kernel, m)).join('')
  const size = `static_assert(sizeof(${kernel.name}_frame) == ${kernel.size}, "${kernel.name}");\n`
  return `// ${kernel.doc.replaceAll('\n', ' ')}\nstruct ${kernel.name}_frame {\n  ptlite_frame_header header;\n${declarations}};\n${size}${checks}`
}

function offsetCheck(kernel: Kernel, member: FrameField): string {
  return `static_assert(offsetof(${kernel.name}_frame, ${member.name}) == ${member.offset}, "${kernel.name}.${member.name}");\n`
}
