/** Calls by regions before they are compared with interpreted ones, and calls of each kind that are timed. */
const WARM = 4
const SAMPLES = 7
/** Of the time of an interpreted call: what regions may take. */
const WORTH = 0.97

/** Compares calls that are carried out by regions with interpreted ones, in turns, once all plans are made. */
export class Trial {
  private readonly regions: number[] = []
  private readonly interpreted: number[] = []

  /** True where the next call is to be interpreted, for its time. */
  get interprets(): boolean {
    const { regions, interpreted } = this
    return regions.length > WARM && interpreted.length < SAMPLES && interpreted.length < regions.length - WARM
  }

  /** `time` of a call in which nothing was recorded or compiled. */
  noteRegions(time: number): void {
    if (this.regions.length < WARM + SAMPLES) this.regions.push(time)
  }

  noteInterpreted(time: number): void {
    this.interpreted.push(time)
  }

  /** True where it is over and regions were no faster. */
  get isLost(): boolean {
    const { regions, interpreted } = this
    if (regions.length < WARM + SAMPLES || interpreted.length < SAMPLES) return false
    // the least, as other work of the machine only adds to times
    return Math.min(...regions.slice(WARM)) > WORTH * Math.min(...interpreted)
  }
}
