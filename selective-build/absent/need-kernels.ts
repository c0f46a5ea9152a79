/** Of a build that always has its kernel library. */
export function needKernels(): void {
  // its first kernel says where it cannot be loaded
}
