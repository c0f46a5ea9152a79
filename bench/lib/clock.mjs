let counts = () => performance.now()

/** Milliseconds that runs are timed by. */
export function now() {
  return counts()
}

/** From now on runs are timed by the time that processors have spent on this process: for machines with other work. */
export function countProcessorTime() {
  counts = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}
