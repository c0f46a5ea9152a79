import type { Kernel, KernelEnum } from '../kernel-abi/model.js'
import type { Selector } from '../options.js'

/** Which dtypes the kernels of a build are compiled for: what `selection.h` says. */
export function holdsDtype({ dtypes }: Selector): string {
  return `#pragma once

#include "ptlite_abi.h"

// True for dtypes that kernels are built for.
constexpr bool ptlite_holds(ptlite_dtype${dtypes === null ? '' : ' dtype'}) { return ${dtypes === null ? 'true' : mask('dtype', dtypes)}; }
`
}

/** Which values of an enumeration the kernels of a build are compiled for. */
export function holdsEnum(declaration: KernelEnum, selector: Selector): string {
  const values = selector.values(declaration.name)
  if (values === null) return `constexpr bool ptlite_holds(${declaration.name}) { return true; }\n`
  const numbers = new Set(declaration.values.flatMap((value, i) => (values.has(value) ? [i] : [])))
  return `constexpr bool ptlite_holds(${declaration.name} value) { return ${mask('value', numbers)}; }\n`
}

function mask(name: string, numbers: ReadonlySet<number>): string {
  const bits = [...numbers].reduce((sum, n) => sum | (1n << BigInt(n)), 0n)
  return `static_cast<uint32_t>(${name}) < 64 && ((0x${bits.toString(16)}ull >> ${name}) & 1) != 0`
}

/**
 * Whether a kernel is in the build, for PTLITE_KERNEL, and whether the build serves what a frame asks for. A build that holds everything
 * checks nothing.
 */
export function acceptsFunction(kernel: Kernel, held: boolean, selector: Selector): string {
  const checks = kernel.fields.flatMap((field) => {
    if (field.length !== null) return []
    if (field.enumName !== null) {
      return selector.values(field.enumName) === null ? [] : [`ptlite_holds(static_cast<${field.enumName}>(frame.${field.name}))`]
    }
    return isDtypeField(field.name) && selector.dtypes !== null ? [`ptlite_holds(static_cast<ptlite_dtype>(frame.${field.name}))`] : []
  })
  const parameter = checks.length === 0 ? '' : ' frame'
  return `#define PTLITE_HOLDS_${kernel.name} ${held ? 1 : 0}
constexpr bool ptlite_accepts(const ${kernel.name}_frame&${parameter}) { return ${checks.join(' && ') || 'true'}; }
`
}

/** Fields that hold a c10::ScalarType number. */
export function isDtypeField(name: string): boolean {
  return name === 'dtype' || name.endsWith('_dtype')
}
