// The 15 sandbox categories. Offers, coupons and promotions build their descriptions from these words.

export interface Category {
  readonly name: string;
  /** Suffixes for shop names: "Quillmere Books". */
  readonly trade: readonly string[];
  /** Products, worded to follow "10% off all …". */
  readonly goods: readonly string[];
  /** Typical order value, in euros. */
  readonly orderValue: readonly [min: number, max: number];
  /** Typical cashback, in percent. */
  readonly percent: readonly [min: number, max: number];
}

export const CATEGORIES: readonly Category[] = [
  {
    name: 'Books & Music',
    trade: ['Books', 'Bookshop', 'Records', 'Pages', 'Press'],
    goods: ['novels', 'cookbooks', 'vinyl records', 'picture books', 'audiobooks', 'sheet music'],
    orderValue: [12, 90],
    percent: [2, 8],
  },
  {
    name: 'Beauty',
    trade: ['Beauty', 'Cosmetics', 'Skin', 'Apothecary', 'Perfumery'],
    goods: ['skincare', 'perfume', 'make-up', 'hair care', 'sun care', 'gift sets'],
    orderValue: [18, 140],
    percent: [4, 14],
  },
  {
    name: 'DIY & Tools',
    trade: ['Tools', 'Hardware', 'Workshop', 'Builders', 'Supply'],
    goods: ['flooring', 'power tools', 'paint and varnish', 'bathroom fittings', 'hand tools', 'workwear'],
    orderValue: [25, 380],
    percent: [2, 7],
  },
  {
    name: 'Electronics',
    trade: ['Electronics', 'Digital', 'Audio', 'Tech', 'Devices'],
    goods: ['monitors', 'headphones', 'smart home devices', 'laptops', 'tablets', 'cameras'],
    orderValue: [40, 1200],
    percent: [1, 5],
  },
  {
    name: 'Fashion',
    trade: ['Clothing', 'Studio', 'Atelier', 'Outfitters', 'Wardrobe'],
    goods: ['coats and jackets', 'denim', 'knitwear', 'dresses', 'shirts', 'linen'],
    orderValue: [35, 260],
    percent: [4, 12],
  },
  {
    name: 'Food & Drink',
    trade: ['Kitchen', 'Pantry', 'Roasters', 'Cellars', 'Larder'],
    goods: ['coffee beans', 'wine cases', 'olive oil', 'chocolate', 'tea', 'recipe boxes'],
    orderValue: [20, 130],
    percent: [2, 10],
  },
  {
    name: 'Garden',
    trade: ['Garden', 'Nurseries', 'Seeds', 'Greenhouse', 'Orchard'],
    goods: ['roses', 'spring bulbs', 'garden furniture', 'vegetable seeds', 'planters', 'watering systems'],
    orderValue: [22, 320],
    percent: [3, 10],
  },
  {
    name: 'Gifts & Flowers',
    trade: ['Flowers', 'Gifts', 'Bouquets', 'Paper', 'Keepsakes'],
    goods: ['bouquets', 'candles', 'greeting cards', 'hampers', 'letterbox flowers', 'engraved gifts'],
    orderValue: [20, 95],
    percent: [5, 15],
  },
  {
    name: 'Health',
    trade: ['Pharmacy', 'Wellness', 'Vitamins', 'Optics', 'Care'],
    goods: [
      'vitamins',
      'contact lenses',
      'sleep aids',
      'protein powder',
      'first-aid kits',
      'natural remedies',
    ],
    orderValue: [18, 110],
    percent: [3, 12],
  },
  {
    name: 'Home & Living',
    trade: ['Home', 'Interiors', 'Furniture', 'Living', 'Lighting'],
    goods: ['bed linen', 'sofas', 'lamps', 'cookware', 'rugs', 'shelving'],
    orderValue: [30, 850],
    percent: [2, 9],
  },
  {
    name: 'Pets',
    trade: ['Pets', 'Pet Supply', 'Paws', 'Kennels', 'Aquatics'],
    goods: ['dog beds', 'dog food', 'bird seed', 'chew toys', 'cat litter', 'aquariums'],
    orderValue: [20, 140],
    percent: [3, 9],
  },
  {
    name: 'Shoes',
    trade: ['Shoes', 'Footwear', 'Bootmakers', 'Soles', 'Leather'],
    goods: ['ankle boots', 'trainers', "children's shoes", 'hiking boots', 'sandals', 'leather bags'],
    orderValue: [40, 220],
    percent: [4, 11],
  },
  {
    name: 'Sports & Outdoor',
    trade: ['Sports', 'Outdoor', 'Cycles', 'Alpine', 'Running'],
    goods: ['running gear', 'tents', 'ski wear', 'bicycles', 'yoga mats', 'rucksacks'],
    orderValue: [30, 420],
    percent: [3, 9],
  },
  {
    name: 'Toys & Kids',
    trade: ['Toys', 'Nursery', 'Playroom', 'Kids', 'Games'],
    goods: ['board games', 'puzzles', 'building sets', 'baby clothes', 'pushchairs', 'wooden toys'],
    orderValue: [22, 210],
    percent: [3, 10],
  },
  {
    name: 'Travel',
    trade: ['Travel', 'Stays', 'Journeys', 'Voyages', 'Escapes'],
    goods: ['family holidays', 'city breaks', 'hotel stays', 'train passes', 'car hire', 'ferry tickets'],
    orderValue: [80, 1900],
    percent: [1, 6],
  },
];

export function getCategory(name: string): Category {
  const found = CATEGORIES.find((category) => category.name === name);
  if (found === undefined) throw new Error(`unknown sandbox category ${name}`);
  return found;
}
