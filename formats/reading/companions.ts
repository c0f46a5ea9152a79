import { PtliteError } from '../../runtime/error.js'
import { type ByteSource, type Openable, openSource } from '../containers/bytes.js'
import type { ReadOptions } from './read-options.js'

/**
 * Opens the files with data that belong to a model: those that the caller gave, and one that stands beside it under its name with another end. What is mapped of
 * them goes with the last tensor that has its data there.
 */
export function openCompanions({ path }: ByteSource, extension: string | undefined, { data = [], map }: ReadOptions): ByteSource[] {
  const given = data.map((file) => openSource(file, map))
  const beside = extension === undefined || path === undefined ? undefined : opened(path.replace(/\.[^./\\]*$/, '') + extension, map)
  return beside === undefined ? given : [...given, beside]
}

/** undefined where there is no such file. */
function opened(file: Openable, map: boolean | undefined): ByteSource | undefined {
  try {
    return openSource(file, map)
  } catch (error) {
    if (error instanceof PtliteError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
