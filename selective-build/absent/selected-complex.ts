/* Without complex numbers there is nothing to export for them. */
export {}
