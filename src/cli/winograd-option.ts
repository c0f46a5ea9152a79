import type { LoadOptions } from '../index.js'

/** `--no-winograd`, for every command that compiles. */
export const WINOGRAD_OPTION = { 'no-winograd': { type: 'boolean', default: false } } as const
export const WINOGRAD_HELP = `      --no-winograd   compiled convolutions are computed as their definition says, slower and with fewer roundings; as does
                      PTLITE_WINOGRAD=0 in the environment`

export function winogradOf(values: { readonly 'no-winograd': boolean }): Pick<LoadOptions, 'winograd'> {
  return values['no-winograd'] ? { winograd: false } : {}
}
