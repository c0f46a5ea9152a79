import { abiHash } from '../kernel-abi/hash.js'
import { type FrameField, HEADER_BYTES, type Kernel, type KernelAbi, type ScalarKind } from '../kernel-abi/model.js'
import { banner, KERNEL_INPUTS } from './file.js'

const C_TYPE: Record<ScalarKind, string> = { ptr: 'uint64_t', i32: 'int32_t', i64: 'int64_t', f32: 'float', f64: 'double' }

/** kernels/generated/ptlite_kernels.h: the frame of each kernel as C++ sees it. */
export function emitKernelsHeader(abi: KernelAbi): string {
  const enums = abi.enums.map((e) => `enum ${e.name} : int32_t {\n${e.values.map((v) => `  ${e.name}_${v},\n`).join('')}};\n`).join('\n')
  const frames = abi.kernels.map(frame).join('\n')
  const rows = (kernels: readonly Kernel[]): string => kernels.map((k) => ` \\\n  X(${k.name})`).join('')
  return `${banner('kernels-header.ts', KERNEL_INPUTS)}#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ptlite_abi.h"

// Fingerprint of the declarations that this header was made from.
#define PTLITE_KERNEL_ABI_HASH ${abiHash(abi)}u

static_assert(sizeof(ptlite_frame_header) == ${HEADER_BYTES}, "frame header");

${enums}
${frames}
// A kernel's id is its position in this list.
#define PTLITE_FOR_EACH_KERNEL(X)${rows(abi.kernels)}
`
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
