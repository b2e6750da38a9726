/** The kinds of upstream that can be configured. `src/adapters/providers/registry.ts` has an implementation of each. */
export const upstreamKinds = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'echo'] as const
export type UpstreamKind = (typeof upstreamKinds)[number]
