/** The version in `gemini-2.5-flash` and `gemini-3-pro-preview` as a number. Undefined for names such as `gemini-flash-latest`. */
function versionOf(model: string): number | undefined {
  const match = /gemini-(\d+(?:\.\d+)?)/.exec(model)
  return match === null ? undefined : Number(match[1])
}

/** Since version 3, models take a level instead of a budget, and reject a function call in the history without a signature. */
export const isSinceThree = (model: string): boolean => (versionOf(model) ?? 0) >= 3

/** Models before 2.5, and open models, reject the thinking settings. */
export const canThink = (model: string): boolean => /gemini/.test(model) && (versionOf(model) ?? Infinity) >= 2.5

/** The larger models cannot stop thinking. */
export const isPro = (model: string): boolean => /-pro\b/.test(model)

/** The thinking budgets that the model accepts. */
export function budgetRange(model: string): { readonly least: number; readonly most: number } {
  if (isPro(model)) return { least: 128, most: 32_768 }
  return { least: /lite/.test(model) ? 512 : 0, most: 24_576 }
}

/** The name in URLs. Callers and lists of models may write it with its collection. */
export const plainName = (model: string): string => model.replace(/^models\//, '')
