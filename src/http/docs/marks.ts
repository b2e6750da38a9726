/**
 * The built pages have this address. `served-text.ts` replaces it by the one that the reader uses, so that the examples can be
 * pasted as they are.
 */
export const baseUrlMark = 'http://gatehouse.invalid'

/** Stands in a built page for what the pages of several ports have in common, and for what differs between ports. */
export const partMark = (name: string): string => `<!--part:${name}-->`

/** The part of every guide that depends on the port: the links to its endpoints. */
export const endpointsPart = 'endpoints'

export const withParts = (template: string, parts: Readonly<Record<string, string>>): string =>
  template.replaceAll(/<!--part:(\w+)-->/g, (_, name: string) => parts[name] ?? '')
