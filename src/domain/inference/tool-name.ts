/** What we call a tool that its caller keeps in a namespace: our language has one flat list of tools. */
export const nameWithin = (namespace: string | null | undefined, name: string): string =>
  namespace ? `${namespace}.${name}` : name
