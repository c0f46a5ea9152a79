import type { CallCount, LayoutInfo, MethodLayout } from '../../program/layout-info.js'
import { formatBytes } from '../format-bytes.js'
import { section } from './format.js'

/** How a file lays its program out, as text. */
export function layoutSections({ versions, methods, sections, dataBytes }: LayoutInfo): string[] {
  const version = Object.entries(versions).map(([name, value]) => `${name} ${value}`)
  return [
    `Laid out by its exporter (${version.join(', ')})`,
    ...methods.flatMap(methodSections),
    ...(sections.length === 0
      ? []
      : [
          section(
            `Data (${sections.length}, ${formatBytes(dataBytes)})`,
            sections.map(({ name, bytes }) => [name, formatBytes(bytes)]),
            [1],
          ),
        ]),
  ]
}

function methodSections({ name, operators, partitions, memories, refusal }: MethodLayout): string[] {
  const sum = (counts: readonly CallCount[]): number => counts.reduce((total, { calls }) => total + calls, 0)
  const planned = memories.reduce((total, bytes) => total + bytes, 0)
  return [
    ...(refusal === null ? [] : [`Method ${name} cannot be run: ${refusal}`]),
    section(`Calls of ${name} outside of partitions (${sum(operators)})`, rowsOf(operators), [1]),
    ...partitions.map(({ backend, calls, bytes, nodes }, i) => {
      const times = calls === 1 ? '' : `, called ${calls} times`
      const title = `Partition ${i} of ${name}: ${backend}, ${formatBytes(bytes)}${times}`
      return nodes.length === 0 ? title : section(`${title} (${sum(nodes)} nodes)`, rowsOf(nodes), [1])
    }),
    section(
      `Memory of ${name} (${formatBytes(planned)})`,
      memories.map((bytes, i) => [`arena ${i + 1}`, formatBytes(bytes)]),
      [1],
    ),
  ]
}

function rowsOf(counts: readonly CallCount[]): string[][] {
  return counts.map(({ name, calls }) => [name, String(calls)])
}
