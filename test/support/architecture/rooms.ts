import type { SourceFile } from './source-tree.ts'

/** Which room may import which: always downwards. A room that is not named may not exist. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  main: ['cli', 'config', 'base'],
  cli: ['app', 'config', 'base'],
  app: ['http', 'pipeline', 'adapters', 'domain', 'config', 'base'],
  http: ['pipeline', 'domain', 'wire', 'base'],
  pipeline: ['domain', 'base'],
  adapters: ['domain', 'wire', 'base'],
  domain: ['base'],
  config: [],
  wire: [],
  base: [],
}

/** Other rooms of the domain may stand on these; these stand on nothing but `base`. */
const ground = ['identity', 'inference']

/** Every import goes down the house, never up, and never out of it. */
export const upwardImports = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to) => {
    if (to === '../package.json') return false
    if (to.startsWith('../') || to.endsWith('.test.ts')) return true
    return roomOf(from) !== roomOf(to) && !mayImport[roomOf(from)]?.includes(roomOf(to))
  })

/** Files that lie in no room of the plan. */
export const strangers = (tree: readonly SourceFile[]): string[] =>
  tree.map(({ path }) => path).filter((path) => !(roomOf(path) in mayImport))

/** `identity` and `inference` import no other room of the domain. */
export const shakyGround = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to) => {
    const room = innerRoomOf('domain', from)
    const target = innerRoomOf('domain', to)
    return room !== undefined && ground.includes(room) && target !== undefined && target !== room
  })

/** What families share lies in `http` itself, or in one of these. */
const sharedByFamilies = new Set<string | undefined>([undefined, 'inference', 'managing'])

/** A family of endpoints imports no other family. */
export const familyTies = (tree: readonly SourceFile[]): string[] =>
  breachesOf(tree, (from, to) => {
    const family = innerRoomOf('http', from)
    const target = innerRoomOf('http', to)
    return family !== undefined && target !== family && !sharedByFamilies.has(target)
  })

/** `app.ts` and `app/` are one room. */
export const roomOf = (path: string): string => /^[a-z]+/.exec(path)?.[0] ?? path

/** `messages` of `http/messages/routes.ts`; nothing where the file lies in the room itself. */
export const innerRoomOf = (room: string, path: string): string | undefined =>
  path.startsWith(`${room}/`) && path.split('/').length > 2 ? path.split('/')[1] : undefined

function breachesOf(tree: readonly SourceFile[], isBreach: (from: string, to: string) => boolean): string[] {
  return tree.flatMap(({ path, imports }) =>
    imports.filter((target) => isBreach(path, target)).map((target) => `${path} -> ${target}`),
  )
}
