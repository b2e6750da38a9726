/** A gateway that scans denies a few ordinary texts, wrongly: some of ten thousand. With more failures it does not work. */
const mostFailures = 0.002

export const hasFailed = ({ requests, failures }: { readonly requests: number; readonly failures: number }): boolean =>
  failures > Math.max(1, requests * mostFailures)
