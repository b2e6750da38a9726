/** What the names of the vendors' models say about them. Models that we do not know take everything. */

/** Major and minor version of `claude-FAMILY-MAJOR-MINOR`, such as 4.06 for 4-6; undefined for all other names. */
function claudeVersion(model: string): number | undefined {
  const match = /claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(model)
  return match === null ? undefined : Number(match[1]) + Number(match[2] ?? 0) / 100
}

/** From 4.6 on Claude decides by itself how much to think; a budget is then out of date, and later refused. */
export const thinksAdaptively = (model: string): boolean => (claudeVersion(model) ?? 0) >= 4.06

/** Later Claude models and OpenAI's reasoning models refuse temperature, top_p and top_k. */
export const refusesSampling = (model: string): boolean =>
  (claudeVersion(model) ?? 0) > 4.06 || /(^|\/)(o\d|gpt-[5-9])/.test(model)

/** OpenAI's models that do not reason refuse to be asked for encrypted reasoning. */
export const cannotReason = (model: string): boolean => /(^|\/)(gpt-[34]|chatgpt-4)/.test(model)
