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

/** The least of runs that take turns, round by round: what other processes do to the caches and to the other half of a core only adds to it. */
export function inTurns<Name extends string>(
  runs: Readonly<Record<Name, () => void>>,
  rounds: number,
  milliseconds: number,
): Record<Name, number> {
  const names = Object.keys(runs) as Name[]
  const times = new Map<Name, number>(names.map((name) => [name, Infinity]))
  for (const name of names) runs[name]()
  for (let i = 0; i < rounds; i++) for (const name of names) times.set(name, Math.min(times.get(name)!, timeOnce(runs[name], milliseconds)))
  return Object.fromEntries(names.map((name) => [name, times.get(name)!])) as Record<Name, number>
}
