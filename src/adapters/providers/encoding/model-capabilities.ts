/** What a model supports, derived from its name. Unknown models are assumed to accept everything. */

/** Version of `claude-FAMILY-MAJOR-MINOR` as a number, for example 4.06 for 4-6. Undefined for all other names. */
function claudeVersion(model: string): number | undefined {
  const match = /claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(model)
  return match === null ? undefined : Number(match[1]) + Number(match[2] ?? 0) / 100
}

/** Since 4.6, Claude models choose their own thinking budget. An explicit budget is deprecated, and later rejected. */
export const thinksAdaptively = (model: string): boolean => (claudeVersion(model) ?? 0) >= 4.06

/** The longest answer of a Claude model before 4.6. Later models, and models with other names, allow more or are not known. */
export function maxOutputOf(model: string): number {
  if ((claudeVersion(model) ?? Infinity) >= 4.06) return Infinity
  return /claude-opus-4(-[01])?(?!\d|-\d\b)/.test(model) ? 32_000 : 64_000
}

/** Claude models after 4.6 and OpenAI's reasoning models reject `temperature`, `top_p` and `top_k`. */
export const rejectsSampling = (model: string): boolean =>
  (claudeVersion(model) ?? 0) > 4.06 || /(^|\/)(o\d|gpt-[5-9])/.test(model)

/** OpenAI's models without reasoning reject `include: ["reasoning.encrypted_content"]`. */
export const cannotReason = (model: string): boolean => /(^|\/)(gpt-[34]|chatgpt-4)/.test(model)
