import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Stored } from '../pt2/fixtures.js'

const folder = fileURLToPath(new URL('../fixtures/pte/', import.meta.url))

/** Programs of make_pte.py, make_pte_language.py, make_pte_experts.py, make_pte_resize.py and make_pte_shared.py. */
export const PROGRAMS = [
  'net',
  'net_xnnpack',
  'net_int8',
  'net_int8_channel',
  'linear_rows',
  'structures',
  'integers',
  'control',
  'sizes',
  'state',
  'state_xnnpack',
  'recurrent',
  'unplanned',
  'arrange_xnnpack',
  'methods',
  'llama',
  'language',
  'experts',
  'resize_xnnpack',
  'shared',
] as const

/** Programs that change the module, whose calls come in order. */
export const CHANGES: ReadonlySet<string> = new Set(['state', 'state_xnnpack', 'llama', 'language', 'shared'])

export interface Call {
  readonly method: string
  readonly args: Stored[]
  readonly result: Stored
}

export function fixturePath(name: string): string {
  return `${folder}${name}`
}

export function readCalls(name: string): { readonly tolerance: number; readonly calls: Call[] } {
  return JSON.parse(readFileSync(fixturePath(`${name}.json`), 'utf8')) as { tolerance: number; calls: Call[] }
}
