import { checkOptions } from '../../runtime/tensor/check-arguments.js'

/** The options as they are now: a getter may say something else the next time. Throws as checkOptions. */
export function readOptions<Options extends object>(options: Options, tests: Parameters<typeof checkOptions>[1], where: string): Options {
  checkOptions(options, tests, where)
  const given = { ...options }
  checkOptions(given, tests, where)
  return given
}
