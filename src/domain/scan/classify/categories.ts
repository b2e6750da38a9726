/** Blocked in every request and response. No caller, policy or operator can turn this off. */
export const alwaysBlockedCategories = ['self-harm', 'sexual/minors'] as const

/** Blocked only if a request or the gateway configuration lists it. */
export const optionalCategories = ['harassment', 'hate', 'illicit', 'sexual'] as const

export type AlwaysBlockedCategory = (typeof alwaysBlockedCategories)[number]
export type OptionalCategory = (typeof optionalCategories)[number]
export type Category = AlwaysBlockedCategory | OptionalCategory

export const categories: readonly Category[] = [...alwaysBlockedCategories, ...optionalCategories]

/** One value per category. */
export type PerCategory<Value> = Readonly<Record<Category, Value>>

export const isCategory = (name: string): name is Category => categories.some((category) => category === name)

export const isOptionalCategory = (name: string): name is OptionalCategory =>
  optionalCategories.some((category) => category === name)

/** Creates a value for each category, in the order of `categories`. */
export function perCategory<Value>(create: (category: Category) => Value): PerCategory<Value> {
  return {
    'self-harm': create('self-harm'),
    'sexual/minors': create('sexual/minors'),
    harassment: create('harassment'),
    hate: create('hate'),
    illicit: create('illicit'),
    sexual: create('sexual'),
  }
}
