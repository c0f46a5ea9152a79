/** What the library uses of Node's process: nothing is set, and the processor is that of the kernels. */
export const process = {
  arch: 'wasm32',
  platform: 'web',
  env: {} as Record<string, string | undefined>,
  pid: 1,
  hrtime: Object.assign(
    (): [number, number] => {
      const now = performance.now()
      return [Math.floor(now / 1000), (now % 1000) * 1e6]
    },
    { bigint: (): bigint => BigInt(Math.round(performance.now() * 1e6)) },
  ),
  /** What models print. */
  stdout: {
    write(text: string): void {
      console.log(text.replace(/\n$/, ''))
    },
  },
  emitWarning(text: string): void {
    console.warn(text)
  },
}
