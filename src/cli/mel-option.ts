import { UsageError } from './usage-error.js'

/** `nMels=80,hopLength=160,log=natural`. Throws UsageError for what is not of this form. */
export function parseMel(text: string): Readonly<Record<string, unknown>> {
  const entries = text.split(',').map((part): [string, unknown] => {
    const [, name, value] = /^\s*([A-Za-z]+)=([\w.+-]+)\s*$/.exec(part) ?? []
    if (name === undefined || name === 'sampleRate')
      throw new UsageError(`--mel: expected options of melSpectrogram, such as nMels=80,hopLength=160,log=natural, found '${part}'`)
    return [name, value === 'true' || value === 'false' ? value === 'true' : Number.isNaN(Number(value)) ? value : Number(value)]
  })
  return Object.fromEntries(entries)
}
