/** How late timers of this process are; its parent asks for it, and gets the 99th percentile since it asked last, in milliseconds. Other messages go to `other`. */
export function watchEventLoop(other = () => {}) {
  const STEP = 5
  let late = []
  let used = process.cpuUsage()
  /** Milliseconds of processors. */
  const cpuSince = () => {
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    return (user + system) / 1000
  }
  let due = performance.now() + STEP
  const tick = () => {
    const now = performance.now()
    late.push(Math.max(0, now - due))
    due = now + STEP
    setTimeout(tick, STEP)
  }
  setTimeout(tick, STEP)
  // without its parent it has nothing to do
  process.on('disconnect', () => process.exit())
  process.on('message', (message) => {
    if (message !== 'event loop') return other(message)
    late.sort((a, b) => a - b)
    // a timer is late by up to a millisecond whatever happens
    process.send({ eventLoop: late[Math.floor(late.length * 0.99)] ?? 0, cpu: cpuSince(), resident: process.memoryUsage.rss() })
    late = []
  })
}
