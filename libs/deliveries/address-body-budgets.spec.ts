/** Who holds most is refused first, and of that whoever has been silent longest. contract §5.11 (Bodies). */
import { AddressBodyBudget, type UnfinishedBody } from './address-body-budgets.ts';

interface Named extends UnfinishedBody {
  name: string;
}

const body = (name: string, clientAddress = '192.0.2.1'): Named => ({ name, clientAddress });
const names = (bodies: readonly Named[]): string[] => bodies.map(({ name }) => name);

describe('bodies of one address', () => {
  const budget = (): AddressBodyBudget<Named> => new AddressBodyBudget({ bytesMax: 1_000, addressBytesMax: 100 });

  it('are all taken up to its budget, and then the one that has been silent longest is refused', () => {
    const room = budget();
    const [first, second, third] = [body('first'), body('second'), body('third')];
    expect(names(room.charge(first, 40))).toEqual([]);
    expect(names(room.charge(second, 40))).toEqual([]);
    expect(names(room.charge(first, 20))).toEqual([]); // goes on: now the second is silent
    expect(names(room.charge(third, 1))).toEqual(['second']);
    expect(room.bytes).toBe(61);
  });

  it('that one alone has too much of is refused itself', () => {
    const room = budget();
    const only = body('only');
    room.charge(only, 100);
    expect(names(room.charge(only, 1))).toEqual(['only']);
    expect(room.bytes).toBe(0);
  });

  it('are given back once, when they end', () => {
    const room = budget();
    const ended = body('ended');
    room.charge(ended, 100);
    room.release(ended);
    room.release(ended);
    expect(room.bytes).toBe(0);
    expect(names(room.charge(body('next'), 100))).toEqual([]);
  });

  it.each([
    { addresses: ['2001:db8::1', '2001:db8::2'], refused: ['0'], why: 'a site of IPv6 is one' },
    { addresses: ['2001:db8::1', '2001:db8:0:1::1'], refused: [], why: 'two sites are two' },
    { addresses: ['192.0.2.1', '192.0.2.2'], refused: [], why: 'addresses of IPv4 are each their own' },
    { addresses: ['unknown', 'unknown'], refused: ['0'], why: 'who cannot be told apart is one' },
  ])('$addresses: $why', ({ addresses, refused }) => {
    const room = budget();
    const given = addresses.map((address, index) => names(room.charge(body(String(index), address), 60)));
    expect(given.flat()).toEqual(refused);
  });
});

describe('bodies of all addresses', () => {
  const budget = (): AddressBodyBudget<Named> => new AddressBodyBudget({ bytesMax: 100, addressBytesMax: 80 });

  it('are refused to the address with most, whoever sends', () => {
    const room = budget();
    room.charge(body('greedy 1', '192.0.2.1'), 40);
    room.charge(body('greedy 2', '192.0.2.1'), 35);
    room.charge(body('modest', '192.0.2.2'), 20);
    expect(names(room.charge(body('new', '192.0.2.3'), 10))).toEqual(['greedy 1']);
    expect(room.bytes).toBe(65);
  });

  it('are refused until there is room, as many as it takes', () => {
    const room = budget();
    for (let index = 0; index < 10; index += 1) room.charge(body(`${index}`, `192.0.2.${index}`), 10);
    expect(names(room.charge(body('large', '192.0.2.99'), 25))).toEqual(['large']);
    expect(room.bytes).toBe(100);
  });
});
