import { type OutputOptions, rollup, type RollupBuild, type RollupOptions } from 'rollup'

/** How parts are written, whatever they are for. */
export const OUTPUT = {
  format: 'es',
  freeze: false,
  generatedCode: 'es2015',
  minifyInternalExports: true,
  hoistTransitiveImports: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
} as const satisfies OutputOptions

/** Bundles the parts. Says all that is wrong, and ends the process then; logs with the codes of `quiet` are none of it. */
export async function bundleParts(options: RollupOptions, quiet: readonly string[]): Promise<RollupBuild> {
  const faults: string[] = []
  const bundle = await rollup({
    ...options,
    // reported below, all of them
    shimMissingExports: true,
    onLog(level, log) {
      if (quiet.includes(log.code ?? '') || level === 'debug') return
      faults.push(log.code === 'SHIMMED_EXPORT' ? `${log.exporter!}: ${log.binding!} is wanted in another part` : log.message)
    },
  })
  if (faults.length > 0) {
    console.error(faults.join('\n').replaceAll('\0', ''))
    process.exit(1)
  }
  return bundle
}
