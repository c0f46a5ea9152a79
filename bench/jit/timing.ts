/** Processor time of one call in microseconds, so that other processes do not count. */
export function timeOnce(run: () => void, milliseconds: number): number {
  let calls = 0
  const begin = process.cpuUsage()
  const end = performance.now() + milliseconds
  do {
    run()
    calls++
  } while (performance.now() < end)
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / calls
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

/** Medians of runs that take turns, round by round, so that what disturbs one disturbs all. */
export function inTurns<Name extends string>(
  runs: Readonly<Record<Name, () => void>>,
  rounds: number,
  milliseconds: number,
): Record<Name, number> {
  const names = Object.keys(runs) as Name[]
  const times = new Map<Name, number[]>(names.map((name) => [name, []]))
  for (const name of names) runs[name]()
  for (let i = 0; i < rounds; i++) for (const name of names) times.get(name)!.push(timeOnce(runs[name], milliseconds))
  return Object.fromEntries(names.map((name) => [name, median(times.get(name)!)])) as Record<Name, number>
}
