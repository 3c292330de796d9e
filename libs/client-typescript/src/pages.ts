/** Lists that come in pages: one page when awaited, every item of every page when iterated. */
import { APIPromise } from './answers.ts';
import { APIResponseValidationError, MillwrightError } from './errors.ts';

/** Whether a list goes on, and where. */
export interface NextPage {
  has_next_page: boolean;
  next_cursor?: string | undefined;
}

/** Where a page stands in its list. */
export interface PagePlace {
  /** Which page of the list it is, from 0 on. */
  index: number;
  /** Every cursor that was answered, with the page that it came with. */
  seen: Map<string, number>;
}

/** What a page needs to know to find the next one. */
export interface PageSource<Item, Body, Member extends string> extends PagePlace {
  /** Name of the list in the answer. */
  member: string;
  /** `GET /path`, for messages. */
  label: string;
  response: Response;
  /** The text of the answer. */
  text: string;
  /** Asks for the page at the cursor. */
  next(cursor: string, index: number): PagePromise<Item, Body, Member>;
}

/** A page that has its items also under the name that the answer has for them: `runs` of a list of runs. */
export type NamedPage<Item, Body = unknown, Member extends string = never> = Page<Item, Body, Member> & {
  readonly [Name in Member]: Item[];
};

/** One page. Iterating goes over its items and those of all further pages. */
export class Page<Item, Body = unknown, Member extends string = never> implements AsyncIterable<Item> {
  readonly items: Item[];
  readonly page_info: NextPage;
  /** The answer as it was received. */
  readonly body: Body;
  readonly #source: PageSource<Item, Body, Member>;

  constructor(items: Item[], pageInfo: NextPage, body: Body, source: PageSource<Item, Body, Member>) {
    Object.defineProperty(this, source.member, { value: items });
    this.items = items;
    this.page_info = pageInfo;
    this.body = body;
    this.#source = source;
  }

  /** Whether there is a further page; a page without items can have one. */
  hasNextPage(): boolean {
    return this.#nextCursor() !== undefined;
  }

  /**
   * Asks for the next page. Throws MillwrightError when this is the last, APIResponseValidationError when the list goes
   * round in a circle.
   */
  getNextPage(): PagePromise<Item, Body, Member> {
    const cursor = this.#nextCursor();
    if (cursor === undefined) throw new MillwrightError('this page is the last one; ask hasNextPage() before');
    const { seen, index, next } = this.#source;
    if ((seen.get(cursor) ?? index) !== index) throw this.#circle();
    seen.set(cursor, index);
    return next(cursor, index + 1);
  }

  /** This page and all that follow. */
  async *pages(): AsyncGenerator<NamedPage<Item, Body, Member>, void, undefined> {
    const first = this as NamedPage<Item, Body, Member>;
    yield first;
    for (let page = await nextOf(first); page !== undefined; page = await nextOf(page)) yield page;
  }

  /** The same as `pages`. */
  iterPages(): AsyncGenerator<NamedPage<Item, Body, Member>, void, undefined> {
    return this.pages();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  #nextCursor(): string | undefined {
    const { has_next_page: goesOn, next_cursor: cursor } = this.page_info;
    return goesOn && typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
  }

  #circle(): APIResponseValidationError {
    const { label, response, text } = this.#source;
    const words = 'the list goes round in a circle: a cursor was answered for the second time';
    return new APIResponseValidationError(`${label}: ${words}`, {
      response,
      body: text,
      pointer: '/page_info/next_cursor',
      expected: 'a cursor that was not answered before',
    });
  }
}

async function nextOf<Item, Body, Member extends string>(
  page: NamedPage<Item, Body, Member>,
): Promise<NamedPage<Item, Body, Member> | undefined> {
  return page.hasNextPage() ? await page.getNextPage() : undefined;
}

/** The first page to come. Iterating goes over every item of every page. */
export class PagePromise<Item, Body = unknown, Member extends string = never>
  extends APIPromise<NamedPage<Item, Body, Member>>
  implements AsyncIterable<Item>
{
  /** Page after page. */
  async *pages(): AsyncGenerator<NamedPage<Item, Body, Member>, void, undefined> {
    yield* (await this).pages();
  }

  /** The same as `pages`. */
  iterPages(): AsyncGenerator<NamedPage<Item, Body, Member>, void, undefined> {
    return this.pages();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this;
  }
}
