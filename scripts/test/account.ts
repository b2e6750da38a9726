import { execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'

export type Account = { readonly uid: number; readonly gid: number }

/** The account that runs the tests. */
export function ownAccount(): Account {
  const { uid, gid } = userInfo()
  return { uid, gid }
}

/** PostgreSQL does not run as root. As root, servers run as the user `postgres` of its package, or as `nobody`. */
export function serverAccount(): Account | undefined {
  if (userInfo().uid !== 0) return undefined
  return accountOf('postgres') ?? accountOf('nobody')
}

function accountOf(user: string): Account | undefined {
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, user], { stdio: 'pipe' }).toString())
  try {
    return { uid: idOf('-u'), gid: idOf('-g') }
  } catch {
    return undefined
  }
}
