/** The values that are in use now, in the order in which they were added. */
export type LinkedList<T> = {
  add(value: T): LinkedEntry
  /** A copy, so that entries may be removed while it is iterated over. */
  values(): T[]
  readonly size: number
}

/** `remove` may be called more than once. */
export type LinkedEntry = { remove(): void }

/**
 * For what every request adds and removes. A `Map` or `Set` allocates a new table every few requests, and V8 links each old table
 * to the next one: one table that reached the old generation keeps the requests of all later ones alive until the next full
 * garbage collection.
 */
export const createLinkedList = <T>(): LinkedList<T> => new List<T>()

class List<T> implements LinkedList<T> {
  first: Entry<T> | undefined = undefined
  last: Entry<T> | undefined = undefined
  size = 0

  add(value: T): LinkedEntry {
    return new Entry(this, value)
  }

  values(): T[] {
    const values: T[] = []
    for (let entry = this.first; entry !== undefined; entry = entry.next) values.push(entry.value)
    return values
  }
}

class Entry<T> implements LinkedEntry {
  readonly value: T
  list: List<T> | undefined
  previous: Entry<T> | undefined
  next: Entry<T> | undefined = undefined

  constructor(list: List<T>, value: T) {
    this.value = value
    this.list = list
    this.previous = list.last
    if (list.last === undefined) list.first = this
    else list.last.next = this
    list.last = this
    list.size++
  }

  remove(): void {
    const { list, previous, next } = this
    if (list === undefined) return
    if (previous === undefined) list.first = next
    else previous.next = next
    if (next === undefined) list.last = previous
    else next.previous = previous
    list.size--
    this.list = this.previous = this.next = undefined
  }
}
