/** More specific names first: Edge also calls itself Chrome, and Chrome also calls itself Safari. */
const browsers = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:(?:Headless)?Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const systems = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** A short name of the browser and its system; the text itself if neither is known. */
export function browserOf(userAgent: string | null): string | undefined {
  if (userAgent === null) return undefined
  const find = (list: readonly (readonly [RegExp, string])[]) => list.find(([pattern]) => pattern.test(userAgent))?.[1]
  return [find(browsers), find(systems)].filter((name) => name !== undefined).join(', ') || userAgent
}
